import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createWorkloadKey } from '@causeway/identity';
import { SignJWT } from 'jose';
import type { ProcessPlane } from '../support/process-plane';

/** Address and identity with which a proxy of a test connects. */
export interface ProxyBootstrap {
  readonly id: string;
  readonly token: string;
  /** Control planes as `host:port`; Envoy takes the next one when one is away. */
  readonly controlPlanes: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  /** A proxy of a Dataplane has a key of its own, and asks for a certificate. */
  readonly hasKey: boolean;
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY = 'dataplane-token-signing-key-7';

/** A dataplane token of one Dataplane (`name`, or `name.namespace`) and its workload, signed with a key that the operator gave the zone. */
export async function dataplaneToken(zone: ProcessPlane, dataplane: string): Promise<string> {
  const data = Buffer.from(privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()).toString('base64');
  const status = await zone.put(`/globalsecrets/${KEY}`, { type: 'GlobalSecret', name: KEY, data });
  if (status !== 200 && status !== 201) throw new Error(`the PUT of ${KEY} was answered ${status}`);
  const now = Math.floor(Date.now() / 1_000);
  const [name] = dataplane.split('.');
  const claims = { Name: name, Workload: name, Mesh: 'default', Type: 'dataplane' };
  const times = { jti: randomUUID(), nbf: now - 5, exp: now + 3_600 };
  return new SignJWT({ ...times, ...claims }).setProtectedHeader({ alg: 'RS256', kid: '7' }).sign(privateKey);
}

/** Writes the key and the bootstrap of a proxy into a folder; the bootstrap's file. */
export async function writeBootstrap(folder: string, proxy: ProxyBootstrap): Promise<string> {
  const keyFile = join(folder, 'key.pem');
  const { privateKey: key, csr } = await createWorkloadKey();
  writeFileSync(keyFile, key, { mode: 0o600 });
  const own = proxy.hasKey ? { 'causeway.io/csr': csr, 'causeway.io/key-file': keyFile } : {};
  const file = join(folder, 'envoy.json');
  writeFileSync(file, JSON.stringify(bootstrapOf({ ...proxy, metadata: { ...proxy.metadata, ...own } })));
  return file;
}

function bootstrapOf({ id, token, controlPlanes, metadata }: ProxyBootstrap): object {
  const ads = { ads: {}, resource_api_version: 'V3', initial_fetch_timeout: '2s' };
  const options = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
  const http2 = { '@type': `type.googleapis.com/${options}`, explicit_http_config: { http2_protocol_options: {} } };
  const endpoints = controlPlanes.map((at) => {
    const [address, port] = at.split(':');
    return { endpoint: { address: { socket_address: { address, port_value: Number(port) } } } };
  });
  return {
    node: { id, cluster: 'test', metadata },
    dynamic_resources: {
      ads_config: {
        api_type: 'DELTA_GRPC',
        transport_api_version: 'V3',
        set_node_on_first_message_only: true,
        grpc_services: [
          {
            envoy_grpc: {
              cluster_name: 'ads',
              // Else a proxy waits up to 30 s before it looks for a control plane again.
              retry_policy: { retry_back_off: { base_interval: '0.2s', max_interval: '2s' } },
            },
            initial_metadata: [{ key: 'authorization', value: `Bearer ${token}` }],
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
          typed_extension_protocol_options: { [options]: http2 },
          load_assignment: { cluster_name: 'ads', endpoints: [{ lb_endpoints: endpoints }] },
        },
      ],
    },
  };
}
