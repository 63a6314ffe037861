import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataplaneTokens } from '@causeway/access';
import { createWorkloadKey } from '@causeway/identity';
import { envoyBootstrap } from '@causeway/xds-translation';
import { DATAPLANE_TOKENS } from '../../apps/zone/src/identity/workload-identity.module';
import type { ParsedJson } from '../rest/rest-fixture';
import { ENVOY, EnvoyProcess } from '../support/envoy-process';
import { loopbackBlock } from '../support/loopback-networks';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';
import { adminFetch } from '../support/admin-credential';
import { isClosedBefore } from '../support/kept-connection';

const PORT = 10_080;
const ROUTE = '/meshes/default/httproutes/route';

(ENVOY === undefined ? describe.skip : describe)('Programmed of a route, by requests through a real Envoy', () => {
  const address = loopbackBlock()(3);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const processes: Server[] = [];
  let database: TestDatabase;
  let zone: ZoneProgram;
  let envoy: EnvoyProcess | undefined;

  const get = async (path: string): Promise<ParsedJson> => (await adminFetch(zone.restUrl + path)).json();
  const put = (path: string, type: string, body: object): Promise<void> => {
    const isOfMesh = path.startsWith('/meshes/default/');
    return zone.put(path, { type, ...(isOfMesh && { mesh: 'default' }), name: path.split('/').at(-1), ...body });
  };

  /** A service with one process, which answers with the name. */
  async function serve(name: string): Promise<void> {
    const server = createServer((_, answer) => answer.end(name)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    processes.push(server);
    const { port } = server.address() as AddressInfo;
    const inbound = [{ port, name: 'main' }];
    await put(`/meshes/default/dataplanes/${name}`, 'Dataplane', {
      labels: { app: name },
      networking: { address: '127.0.0.1', inbound },
    });
    const ports = [{ port: PORT, targetPort: 'main', appProtocol: 'http' }];
    await put(`/meshes/default/meshservices/${name}`, 'MeshService', {
      spec: { selector: { dataplaneLabels: { matchLabels: { app: name } } }, ports },
    });
  }

  async function startEnvoy(): Promise<EnvoyProcess> {
    const { tokens } = zone.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
    await tokens.ensureKey();
    const folder = mkdtempSync(join(tmpdir(), 'causeway-proxy-'));
    const { privateKey, csr } = await createWorkloadKey();
    const keyFile = join(folder, 'key.pem');
    writeFileSync(keyFile, privateKey, { mode: 0o600 });
    const metadata = { 'causeway.io/csr': csr, 'causeway.io/key-file': keyFile };
    const bootstrap = envoyBootstrap({
      node: { id: 'default.client', cluster: 'client', metadata },
      controlPlanes: [{ host: '127.0.0.1', port: zone.xds.address.port }],
      authority: zone.authority ?? '',
      token: { text: (await tokens.issue({ mesh: 'default', name: 'client' })).token },
      protocol: 'delta',
      admin: { address: '127.0.0.1', port: 0 },
    });
    writeFileSync(join(folder, 'envoy.yaml'), JSON.stringify(bootstrap));
    return EnvoyProcess.run(ENVOY ?? '', join(folder, 'envoy.yaml'), folder);
  }

  /** Returns the name of the answering server, over a kept connection or a new one. */
  const ask = (isKept = true): Promise<string> =>
    new Promise((resolve, reject) => {
      const sent = request({ host: address, port: PORT, agent: isKept ? agent : false }, (answer) => {
        let text = '';
        answer.on('data', (part: Buffer) => (text += part.toString()));
        answer.on('end', () => resolve(`${answer.statusCode ?? 0} ${text}`));
      });
      const fail = (error: Error): void => {
        if (isClosedBefore(sent, error)) ask(isKept).then(resolve, reject);
        else reject(error);
      };
      sent.on('error', fail).end();
    });

  beforeAll(async () => {
    database = await createTestDatabase();
    zone = await ZoneProgram.start({ DATABASE_URL: database.url, CAUSEWAY_XDS_TLS: 'on' });
    await zone.untilLeading();
    await put('/meshparameters/plain', 'MeshParameters', { spec: { mtls: 'Off' } });
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'plain' };
    await put('/meshes/default', 'Mesh', { spec: { parametersRef } });
    for (const name of ['echo', 'one', 'two']) await serve(name);
    const outbound = [{ address, port: PORT, backendRef: { kind: 'MeshService', name: 'echo', port: PORT } }];
    await put('/meshes/default/dataplanes/client', 'Dataplane', {
      networking: { address: '127.0.0.1', inbound: [], outbound },
    });
    envoy = await startEnvoy();
    await until('the service answers', async () => (await ask().catch(() => '')) === '200 echo');
  });
  afterAll(async () => {
    agent.destroy();
    await envoy?.stop();
    await zone.stop();
    for (const server of processes) server.close().closeAllConnections();
    await database.drop();
  });

  it('T002-04: is never True of a generation before the first request shows it', async () => {
    for (const name of ['one', 'two', 'one', 'two']) {
      const rules = [{ backendRefs: [{ name, port: PORT }] }];
      await put(ROUTE, 'HTTPRoute', { spec: { parentRefs: [{ kind: 'Service', name: 'echo' }], rules } });
      const { generation } = await get(ROUTE);
      const condition = await until('Programmed of the generation', async () => {
        const conditions: ParsedJson[] = (await get(ROUTE)).status?.parents?.[0]?.conditions ?? [];
        const found = conditions.find(({ type }) => type === 'Programmed');
        return found?.observedGeneration === generation && found.status === 'True' ? found : undefined;
      });
      expect([await ask(), await ask(false), condition.message]).toEqual([
        `200 ${name}`,
        `200 ${name}`,
        'applied by 1 of 1 proxies',
      ]);
    }
  });
});
