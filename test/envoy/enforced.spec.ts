import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataplaneTokens } from '@causeway/access';
import { createWorkloadKey } from '@causeway/identity';
import { envoyBootstrap } from '@causeway/xds-translation';
import { DATAPLANE_TOKENS } from '../../apps/zone/src/identity/workload-identity.module';
import type { ParsedJson } from '../rest/rest-fixture';
import { deltaClient, type DeltaClient } from '../support/ads-client';
import { ENVOY, EnvoyProcess } from '../support/envoy-process';
import { loopbackBlock } from '../support/loopback-networks';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';
import { adminFetch } from '../support/admin-credential';

const PORT = 10_081;
const POLICY = '/meshes/default/headerpolicies/colour';
const CLUSTERS = 'type.googleapis.com/envoy.config.cluster.v3.Cluster';

(ENVOY === undefined ? describe.skip : describe)('Enforced of a policy, by requests through a real Envoy', () => {
  const address = loopbackBlock()(3);
  let database: TestDatabase;
  let zone: ZoneProgram;
  let service: Server;
  let envoy: EnvoyProcess | undefined;
  let machine: DeltaClient | undefined;

  const get = async (path: string): Promise<ParsedJson> => (await adminFetch(zone.restUrl + path)).json();
  const put = (path: string, type: string, body: object): Promise<void> => {
    const isOfMesh = path.startsWith('/meshes/default/');
    return zone.put(path, { type, ...(isOfMesh && { mesh: 'default' }), name: path.split('/').at(-1), ...body });
  };
  const token = async (name: string): Promise<string> => {
    const { tokens } = zone.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
    await tokens.ensureKey();
    return (await tokens.issue({ mesh: 'default', name })).token;
  };

  async function startEnvoy(): Promise<EnvoyProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-proxy-'));
    const { privateKey, csr } = await createWorkloadKey();
    const keyFile = join(folder, 'key.pem');
    writeFileSync(keyFile, privateKey, { mode: 0o600 });
    const bootstrap = envoyBootstrap({
      node: {
        id: 'default.client',
        cluster: 'client',
        metadata: { 'causeway.io/csr': csr, 'causeway.io/key-file': keyFile },
      },
      controlPlanes: [{ host: '127.0.0.1', port: zone.xds.address.port }],
      authority: zone.authority ?? '',
      token: { text: await token('client') },
      protocol: 'delta',
      admin: { address: '127.0.0.1', port: 0 },
    });
    writeFileSync(join(folder, 'envoy.yaml'), JSON.stringify(bootstrap));
    return EnvoyProcess.run(ENVOY ?? '', join(folder, 'envoy.yaml'), folder);
  }

  /** A builtin plane as the control plane sees it: it asks for clusters, and acks. */
  async function joinMachine(): Promise<DeltaClient> {
    const networking = { address: '127.0.0.1', inbound: [] };
    await put('/meshes/default/dataplanes/machine', 'Dataplane', { networking });
    const authorization = `Bearer ${await token('machine')}`;
    const client = deltaClient(zone.xds.address.port, 'default.machine', authorization, zone.authority);
    const version = { $case: 'userAgentVersion', value: '0.1.0+builtin' };
    const node = { id: 'default.machine', userAgentName: 'causeway-agent', userAgentVersionType: version };
    client.send({ node, typeUrl: CLUSTERS, resourceNamesSubscribe: ['*'] });
    client.ack(await client.response(0));
    return client;
  }

  /** Returns the headers of the answer to the next request. */
  const ask = (): Promise<IncomingHttpHeaders> =>
    new Promise((resolve, reject) => {
      const sent = request({ host: address, port: PORT, agent: false }, ({ headers, statusCode }) =>
        statusCode === 200 ? resolve(headers) : reject(new Error(String(statusCode))),
      );
      sent.on('error', reject).end();
    });
  const conditionsOf = async (): Promise<Readonly<Record<string, ParsedJson>>> => {
    const conditions: ParsedJson[] = (await get(POLICY)).status?.conditions ?? [];
    return Object.fromEntries(conditions.map((one) => [one.type, one]));
  };
  /** Resolves with the condition once it is True of the policy as it is now. */
  const becomes = async (type: string): Promise<ParsedJson> => {
    const { generation } = await get(POLICY);
    return until(`${type} of generation ${generation}`, async () => {
      const found = (await conditionsOf())[type];
      return found?.status === 'True' && found.observedGeneration === generation ? found : undefined;
    });
  };
  const colour = (value: string): Promise<void> =>
    put(POLICY, 'HeaderPolicy', {
      spec: {
        targetRefs: [{ kind: 'MeshService', name: 'echo' }],
        response: { set: { 'x-colour': value } },
      },
    });

  beforeAll(async () => {
    database = await createTestDatabase();
    zone = await ZoneProgram.start({ DATABASE_URL: database.url, CAUSEWAY_XDS_TLS: 'on' });
    await zone.untilLeading();
    await put('/meshparameters/plain', 'MeshParameters', { spec: { mtls: 'Off' } });
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'plain' };
    await put('/meshes/default', 'Mesh', { spec: { parametersRef } });
    service = createServer((_, answer) => answer.end('echo')).listen(0, '127.0.0.1');
    await once(service, 'listening');
    const inbound = [{ port: (service.address() as AddressInfo).port, name: 'main' }];
    await put('/meshes/default/dataplanes/echo', 'Dataplane', {
      labels: { app: 'echo' },
      networking: { address: '127.0.0.1', inbound },
    });
    await put('/meshes/default/meshservices/echo', 'MeshService', {
      spec: {
        selector: { dataplaneLabels: { matchLabels: { app: 'echo' } } },
        ports: [{ port: PORT, targetPort: 'main', appProtocol: 'http' }],
      },
    });
    const outbound = [{ address, port: PORT, backendRef: { kind: 'MeshService', name: 'echo', port: PORT } }];
    await put('/meshes/default/dataplanes/client', 'Dataplane', {
      networking: { address: '127.0.0.1', inbound: [], outbound },
    });
    envoy = await startEnvoy();
    await until('the service answers', () => ask().then(Boolean, () => false));
  });
  afterAll(async () => {
    await machine?.close();
    await envoy?.stop();
    await zone.stop();
    service.close().closeAllConnections();
    await database.drop();
  });

  it('T004-46: is never True of a generation before the first request shows it', async () => {
    for (const value of ['red', 'blue', 'red', 'blue']) {
      await colour(value);
      const { message } = await becomes('Enforced');
      expect([(await ask())['x-colour'], message]).toEqual([
        value,
        'AtomicDefaults: enforced in 1 of 1 scopes; applied by 1 of 1 proxies',
      ]);
    }
  });

  it('T004-47: turns into PartiallyEnforced while a builtin plane is there, which passes requests on as bytes', async () => {
    await colour('green');
    await becomes('Enforced');
    machine = await joinMachine();
    const { reason, message } = await becomes('PartiallyEnforced');
    expect([reason, (await conditionsOf())['Enforced'].status]).toEqual(['NotSupported', 'False']);
    expect(message).toContain('default/machine (builtin) cannot apply all of it: builtin: ');
    expect((await ask())['x-colour']).toBe('green');
    await machine.close();
    await becomes('Enforced');
  });
});
