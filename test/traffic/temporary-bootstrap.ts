import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createWorkloadKey } from '@causeway/identity';
import { SignJWT } from 'jose';
import type { ProcessPlane } from '../support/process-plane';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
export async function temporaryToken(plane: ProcessPlane, claims: object): Promise<string> {
  const data = Buffer.from(privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()).toString('base64');
  const st = await plane.put('/globalsecrets/dataplane-token-signing-key-7', {
    type: 'GlobalSecret',
    name: 'dataplane-token-signing-key-7',
    data,
  });
  if (st > 201) throw new Error(String(st));
  const s = Math.floor(Date.now() / 1000);
  return new SignJWT({ jti: randomUUID(), nbf: s - 5, exp: s + 3600, Mesh: 'default', Type: 'dataplane', ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: '7' })
    .sign(privateKey);
}

export async function writeBootstrap(
  folder: string,
  o: { id: string; token: string; at: readonly string[]; meta: object; key: boolean },
): Promise<string> {
  const { privateKey: pem, csr } = await createWorkloadKey();
  const keyFile = join(folder, 'key.pem');
  writeFileSync(keyFile, pem, { mode: 0o600 });
  const ads = { ads: {}, resource_api_version: 'V3', initial_fetch_timeout: '2s' };
  const ep = o.at.map((a) => ({
    endpoint: { address: { socket_address: { address: a.split(':')[0], port_value: Number(a.split(':')[1]) } } },
  }));
  const boot = {
    node: {
      id: o.id,
      cluster: 'x',
      metadata: { ...o.meta, ...(o.key && { 'causeway.io/csr': csr, 'causeway.io/key-file': keyFile }) },
    },
    dynamic_resources: {
      ads_config: {
        api_type: 'DELTA_GRPC',
        transport_api_version: 'V3',
        set_node_on_first_message_only: true,
        grpc_services: [
          {
            envoy_grpc: { cluster_name: 'ads' },
            initial_metadata: [{ key: 'authorization', value: `Bearer ${o.token}` }],
          },
        ],
      },
      cds_config: ads,
      lds_config: ads,
    },
    static_resources: {
      clusters: [
        {
          name: 'ads',
          type: 'STATIC',
          connect_timeout: '1s',
          typed_extension_protocol_options: {
            'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
              '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
              explicit_http_config: { http2_protocol_options: {} },
            },
          },
          load_assignment: { cluster_name: 'ads', endpoints: [{ lb_endpoints: ep }] },
        },
      ],
    },
  };
  const file = join(folder, 'envoy.json');
  writeFileSync(file, JSON.stringify(boot));
  return file;
}
