import { X509Certificate } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataplaneTokenRequest, DataplaneTokens } from '@causeway/access';
import { createWorkloadKey } from '@causeway/identity';
import type { JsonObject } from '@causeway/resources';
import { envoyBootstrap } from '@causeway/xds';
import { DATAPLANE_TOKENS } from '../../apps/zone/src/workload-identity.module';
import { ENVOY, EnvoyProcess } from '../support/envoy-process';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';

const REDIS = {
  networking: {
    address: '127.0.0.1',
    inbound: [{ port: 16379, servicePort: 6379, tags: { 'kuma.io/service': 'redis' } }],
  },
};

(ENVOY === undefined ? describe.skip : describe)('a zone that serves a real Envoy', () => {
  let database: TestDatabase;
  let zone: ZoneProgram;
  let port = 0;
  const envoys: EnvoyProcess[] = [];

  const env = (more: Readonly<Record<string, string>> = {}) => ({
    ...{ DATABASE_URL: database.url, CAUSEWAY_XDS_TLS: 'on', CAUSEWAY_XDS_PORT: String(port) },
    ...more,
  });
  const token = async (request: DataplaneTokenRequest): Promise<string> => {
    const tokens = zone.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false }).tokens;
    await tokens.ensureKey();
    return (await tokens.issue(request)).token;
  };

  /** Starts an Envoy for the Dataplane redis-1 with a key of its own. */
  async function start(text: string, metadata: JsonObject = {}): Promise<EnvoyProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-proxy-'));
    const { privateKey, csr } = await createWorkloadKey();
    const keyFile = join(folder, 'key.pem');
    writeFileSync(keyFile, privateKey, { mode: 0o600 });
    const tokenFile = join(folder, 'token.yaml');
    const { authority } = zone;
    const bootstrap = envoyBootstrap({
      node: {
        id: 'default.redis-1',
        cluster: 'redis',
        metadata: { 'causeway.io/csr': csr, 'causeway.io/key-file': keyFile, ...metadata },
      },
      controlPlanes: [{ host: '127.0.0.1', port }],
      ...(authority !== undefined && { authority }),
      token: { text },
      protocol: 'delta',
      admin: { address: '127.0.0.1', port: 0 },
    });
    writeFileSync(tokenFile, text);
    const file = join(folder, 'envoy.json');
    writeFileSync(file, JSON.stringify(bootstrap));
    const envoy = await EnvoyProcess.run(ENVOY ?? '', file, folder);
    envoys.push(envoy);
    return envoy;
  }

  const certificate = async (envoy: EnvoyProcess): Promise<JsonObject | undefined> => {
    const { certificates = [] } = JSON.parse(await envoy.ask('/certs')) as { certificates?: JsonObject[] };
    return certificates.find((one) => JSON.stringify(one['cert_chain'] ?? []).includes('spiffe'));
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    zone = await ZoneProgram.start({ ...env(), CAUSEWAY_XDS_PORT: '0' });
    await zone.untilLeading();
    port = zone.xds.address.port;
    await zone.put('/meshes/default/meshidentities/default', {
      ...{ type: 'MeshIdentity', mesh: 'default', name: 'default' },
      spec: { selector: { dataplane: { matchLabels: {} } }, provider: { type: 'Bundled', bundled: {} } },
    });
    await zone.put('/meshes/default/dataplanes/redis-1', {
      type: 'Dataplane',
      mesh: 'default',
      name: 'redis-1',
      ...REDIS,
    });
  }, 60_000);
  afterEach(() => Promise.all(envoys.splice(0).map((envoy) => envoy.stop())));
  afterAll(async () => {
    await zone.stop();
    await database.drop();
  });

  it('gives it a listener, and a certificate of its workload for the key on its machine', async () => {
    const envoy = await start(await token({ mesh: 'default', name: 'redis-1' }));
    await until('the listener', async () => (await envoy.ask('/listeners')).includes('inbound:127.0.0.1:16379'));
    const held = await until('the certificate', () => certificate(envoy));
    expect(JSON.stringify(held)).toContain('spiffe://default.east.mesh.local/workload/redis-1');
    const [proxy] = zone.xds.proxies();
    expect(proxy).toMatchObject({
      id: 'default/redis-1',
      certificate: { uri: 'spiffe://default.east.mesh.local/workload/redis-1' },
    });
    expect(zone.authority && new X509Certificate(zone.authority).subject).toBeDefined();
  });
});
