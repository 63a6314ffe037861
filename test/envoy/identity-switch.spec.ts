import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataplaneTokens } from '@causeway/access';
import { createWorkloadKey } from '@causeway/identity';
import { identityPathState } from '@causeway/identity/testing';
import { IdentityPath } from '@causeway/kinds';
import type { IndexReader } from '@causeway/store';
import { envoyBootstrap } from '@causeway/xds-translation';
import { INDEX } from '@causeway/control-plane';
import { DATAPLANE_TOKENS } from '../../apps/zone/src/identity/workload-identity.module';
import type { ParsedJson } from '../rest/rest-fixture';
import { adminFetch } from '../support/admin-credential';
import { ENVOY, EnvoyProcess } from '../support/envoy-process';
import { loopbackBlock } from '../support/loopback-networks';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';

const PORT = 10_082;
const ID = 'spiffe://default.east.mesh.local';
const PATH = '/meshes/default/identitypaths/default';
/** A certificate is renewed after 4 to 6 s; the other form is announced for 5 s, and the one of before is believed for 11 s. */
const TIMES = { CAUSEWAY_WORKLOAD_CERT_VALIDITY: '10s', CAUSEWAY_CLOCK_SKEW: '1s' };
/** Interval between requests, ms. */
const PAUSE = 20;

(ENVOY === undefined ? describe.skip : describe)('the form of SPIFFE ids changes under real Envoys', () => {
  const block = loopbackBlock();
  const [server, address] = [block(3), block(4)];
  let database: TestDatabase;
  let zone: ZoneProgram;
  let service: Server;
  const envoys: EnvoyProcess[] = [];
  const kept = new Agent({ keepAlive: true, maxSockets: 1 });
  const caller = `${ID}/workload/client`;

  const put = (path: string, type: string, body: object): Promise<void> =>
    zone.put(path, { type, mesh: 'default', name: path.split('/').at(-1)?.split('?')[0], ...body });
  const state = () =>
    identityPathState(zone.app.get<IndexReader>(INDEX, { strict: false }), { mesh: 'default', zone: 'east' });

  async function startEnvoy(name: string, namespace: string): Promise<EnvoyProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-proxy-'));
    const { privateKey, csr } = await createWorkloadKey();
    const keyFile = join(folder, 'key.pem');
    writeFileSync(keyFile, privateKey, { mode: 0o600 });
    const { tokens } = zone.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
    await tokens.ensureKey();
    const { token } = await tokens.issue({ mesh: 'default', namespace, name, services: [name] });
    const bootstrap = envoyBootstrap({
      node: {
        id: `default.${name}.${namespace}`,
        cluster: name,
        metadata: { 'causeway.io/csr': csr, 'causeway.io/key-file': keyFile },
      },
      controlPlanes: [{ host: '127.0.0.1', port: zone.xds.address.port }],
      authority: zone.authority ?? '',
      token: { text: token },
      protocol: 'delta',
      admin: { address: '127.0.0.1', port: 0 },
    });
    writeFileSync(join(folder, 'envoy.yaml'), JSON.stringify(bootstrap));
    const envoy = await EnvoyProcess.run(ENVOY ?? '', join(folder, 'envoy.yaml'), folder);
    envoys.push(envoy);
    return envoy;
  }

  /** Returns the status of one request, on a new connection or on the kept one; 0 if there is no answer. */
  const ask = (agent: Agent | false): Promise<number> =>
    new Promise((resolve) => {
      const sent = request({ host: address, port: PORT, agent }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
      });
      sent.on('error', () => resolve(0)).end();
    });
  const idsOf = async (name: string): Promise<readonly string[]> => {
    const answer = await adminFetch(`${zone.restUrl}/meshes/default/meshservices/${name}?namespace=shop`);
    const found = (await answer.json()) as ParsedJson;
    return (found.spec?.identities ?? []).map(({ value }: { value: string }) => value);
  };
  const letIn = (...ids: readonly string[]): Promise<void> =>
    put('/meshes/default/accesspolicies/web?namespace=shop', 'AccessPolicy', {
      spec: {
        targetRefs: [{ kind: 'MeshService', name: 'web' }],
        allow: { client: { from: ids.map((value) => ({ spiffeId: { type: 'Exact', value } })) } },
      },
    });

  beforeAll(async () => {
    database = await createTestDatabase();
    zone = await ZoneProgram.start({ DATABASE_URL: database.url, CAUSEWAY_XDS_TLS: 'on', ...TIMES });
    await zone.untilLeading();
    await until('the IdentityPath of a new mesh', async () => (await zone.fetch(PATH)).ok);
    await until('its ids have namespaces at once', () => state()?.signs === 'Namespaced');
    // As an older mesh has it.
    await zone.delete(PATH);
    await until('the ids of before', () => state() === undefined);
    service = createServer((_, answer) => answer.end('web')).listen(0, '127.0.0.1');
    await once(service, 'listening');
    const { port: servicePort } = service.address() as AddressInfo;
    const inbound = [{ port: PORT, servicePort, tags: { 'kuma.io/service': 'web', 'kuma.io/protocol': 'http' } }];
    await put('/meshes/default/dataplanes/web?namespace=shop', 'Dataplane', {
      networking: { address: server, inbound },
    });
    const backendRef = { kind: 'MeshService', name: 'web', port: PORT };
    const outbound = [{ address, port: PORT, backendRef }];
    await put('/meshes/default/dataplanes/client?namespace=shop', 'Dataplane', {
      networking: { address: '127.0.0.1', inbound: [], outbound },
    });
    await letIn(caller);
    await startEnvoy('web', 'shop');
    await startEnvoy('client', 'shop');
    await until('the service answers', async () => (await ask(false)) === 200);
    expect(await idsOf('web')).toEqual([`${ID}/workload/web`]);
  });
  afterAll(async () => {
    kept.destroy();
    await Promise.all(envoys.map((envoy) => envoy.stop()));
    await zone?.stop();
    service?.close().closeAllConnections();
    await database?.drop();
  });

  it('no request fails, by new connections and by one that is kept, while policies name the ids of before', async () => {
    const answers = new Map<number, number>();
    let isOver = false;
    const load = async (agent: Agent | false): Promise<void> => {
      while (!isOver) {
        const status = await ask(agent);
        answers.set(status, (answers.get(status) ?? 0) + 1);
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
      }
    };
    const done = Promise.all([load(false), load(kept)]);
    const both = [`${ID}/ns/shop/workload/web`, `${ID}/workload/web`];
    try {
      await put(PATH, IdentityPath.name, { spec: { preset: 'Namespaced' } });
      await until('both ids are known', async () => (await idsOf('web')).join() === both.join());
      await until('certificates are signed with the namespace', () => state()?.signs === 'Namespaced');
      // The operator writes this before the old identity ends.
      await letIn(caller, `${ID}/ns/shop/workload/client`);
      await until('the id of before has ended', () => state()?.step === undefined);
      await until('it is named no more', async () => (await idsOf('web')).join() === both[0]);
      const before = answers.get(200) ?? 0;
      await until('requests after it', () => (answers.get(200) ?? 0) > before + 100);
    } finally {
      isOver = true;
      await done;
    }
    expect([...answers.keys()]).toEqual([200]);
    expect(answers.get(200)).toBeGreaterThan(500);
    await letIn(caller);
    await until('the id of before lets nobody in', async () => (await ask(false)) === 403);
  });
});
