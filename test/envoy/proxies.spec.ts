import type { DataplaneTokens } from '@causeway/access';
import { ProxyDirectory, type KnownProxy } from '@causeway/controllers';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import { Client } from 'pg';
import { DATAPLANE_TOKENS } from '../../apps/zone/src/identity/workload-identity.module';
import { deltaClient, type DeltaClient } from '../support/ads-client';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import type { ParsedJson } from '../rest/rest-fixture';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';
import { adminFetch } from '../support/admin-credential';

const { cluster, listener } = RESOURCE_TYPES;

const inbound = [{ port: 16379, servicePort: 6379, tags: { 'kuma.io/service': 'redis' } }];

/** Two replicas of a zone with proxies that are not Envoy: they send what a test wants. */
describe('the proxies of a zone with two replicas', () => {
  let database: TestDatabase;
  let replicas: readonly [ZoneProgram, ZoneProgram];
  const clients: DeltaClient[] = [];
  const stopped = new Set<ZoneProgram>();

  beforeAll(async () => {
    database = await createTestDatabase();
    const settings = { DATABASE_URL: database.url, CAUSEWAY_XDS_ABANDONED_AFTER: '10s' };
    const first = await ZoneProgram.start(settings);
    await first.untilLeading();
    replicas = [first, await ZoneProgram.start(settings)];
    for (const name of ['redis-1', 'redis-2'])
      await first.put(`/meshes/default/dataplanes/${name}`, {
        type: 'Dataplane',
        mesh: 'default',
        name,
        networking: { address: '127.0.0.1', inbound },
      });
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all(replicas.filter((each) => !stopped.has(each)).map((replica) => replica.stop()));
    await database.drop();
  });

  const connect = async (name: string, replica: ZoneProgram): Promise<DeltaClient> => {
    const { tokens } = replica.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
    // The leader makes the first key at the start of its term; this replica reads it from the log.
    const issue = () => tokens.issue({ mesh: 'default', name, services: ['redis'] }).catch(() => undefined);
    const { token } = await until('a key that signs tokens', issue);
    const client = deltaClient(replica.xds.address.port, `default.${name}`, token);
    clients.push(client);
    return client;
  };
  const known = (name: string, replica = replicas[0]): KnownProxy | undefined =>
    [...replica.app.get(ProxyDirectory, { strict: false }).all()].find(({ proxy }) => proxy === `default/${name}`);

  it('which obey no route are known with the reason', async () => {
    const at = (capture: string, version: string) => ({
      metadata: { 'causeway.io/capture': capture },
      userAgentName: 'envoy',
      userAgentVersionType: { $case: 'userAgentVersion', value: version },
    });
    const found = async (capture: string, version: string): Promise<string | undefined> => {
      const client = await connect('redis-2', replicas[1]);
      client.send({ node: { id: client.node, ...at(capture, version) }, typeUrl: listener });
      client.ack(await client.response(0));
      const isSo = () => known('redis-2')?.facts.userAgent === `envoy ${version}` && known('redis-2');
      const proxy = await until(`envoy ${version} is known`, () => isSo() ?? undefined);
      await client.close();
      return proxy.facts.bytesOnly;
    };
    expect([
      await found('redirect', '1.39.4'),
      await found('redirect', '1.40.1'),
      await found('translate', '1.40.2'),
      await found('bind', '1.39.5'),
    ]).toEqual(['before 1.40, capture redirect', undefined, 'capture translate', undefined]);
  });

  it('are known at both, until a replica is gone without a word', async () => {
    const client = await connect('redis-1', replicas[1]);
    client.send({ typeUrl: listener });
    client.ack(await client.response(0));
    const found = await until('it is known at the other replica', () => known('redis-1'));
    expect(found).toMatchObject({ connected: true, facts: { kind: 'dataplane', form: 'delta', streams: 1 } });
    expect(found.facts.types).toMatchObject([{ type: listener, held: 1 }]);
    await until('what it holds is known', () => known('redis-1')?.facts.isSettled);
    expect(known('redis-1')?.facts.applied).toBeUndefined();

    // As if the replica had been killed 16 s ago: it has not reported since.
    const direct = new Client({ connectionString: database.url });
    await direct.connect();
    const age = () =>
      direct.query('UPDATE proxy_replicas SET seen_at = seen_at - 16000 WHERE instance = $1', [found.instance]);
    await until('it is gone', async () => {
      await age();
      return known('redis-1')?.connected === false;
    });
    await direct.end();
    await until('it is back with the next report', () => known('redis-1')?.connected === true);
  });

  it('are shown by REST, and in the insight and the service of their Dataplane', async () => {
    const get = async (path: string): Promise<ParsedJson> => (await adminFetch(replicas[0].restUrl + path)).json();
    await until('it is connected', async () => (await get('/_proxies?connected=true')).total === 1);
    const [found] = (await get('/_proxies?mesh=default&name=redis')).items;
    expect(found).toMatchObject({
      mesh: 'default',
      namespace: 'default',
      name: 'redis-1',
      kind: 'dataplane',
      connected: true,
      form: 'delta',
      types: [{ type: 'Listener', held: 1, responses: { acked: 1 } }],
    });
    expect(found.appliedRevision).toBeGreaterThan(0);
    expect(await get('/_proxies/default/redis-1')).toMatchObject({ name: 'redis-1', node: 'default.redis-1' });
    expect((await get('/_proxies?mesh=-')).total).toBe(0);
    expect((await get('/_proxies/default/nobody')).status).toBe(404);
    const { dataplaneInsight } = await get('/meshes/default/dataplanes+insights/redis-1');
    expect(dataplaneInsight.subscriptions).toMatchObject([{ status: { lds: { responsesAcknowledged: '1' } } }]);
    const counted = async () => (await get('/meshes/default/meshservices/redis')).status?.dataplaneProxies;
    await until('it is counted', async () => (await counted())?.connected === 1);
    expect(await counted()).toEqual({ total: 2, connected: 1, healthy: 2 });
  });

  it('what a proxy rejects is named at its Dataplane, until it accepts it', async () => {
    const client = await connect('redis-2', replicas[1]);
    client.send({ typeUrl: listener });
    client.nack(await client.response(0), 'inbound:127.0.0.1:16379: no way');
    const conditions = async (): Promise<ParsedJson> => {
      const answer = await adminFetch(`${replicas[0].restUrl}/meshes/default/dataplanes/redis-2`);
      const listed: ParsedJson[] = ((await answer.json()) as ParsedJson).status?.conditions ?? [];
      return listed.filter(({ type }) => type !== 'Programmed').map(({ type, message }) => [type, message]);
    };
    await until('the condition', async () => (await conditions())?.[0]?.[0] === 'RejectedByProxy');
    expect((await conditions())[0][1]).toMatch(/^Listener inbound:127.0.0.1:16379 \(version .*\): .*no way$/);
    await replicas[0].put('/meshes/default/dataplanes/redis-2', {
      type: 'Dataplane',
      mesh: 'default',
      name: 'redis-2',
      networking: { address: '127.0.0.1', inbound: [{ ...inbound[0], servicePort: 6380 }] },
    });
    client.ack(await client.response(1));
    await until('no condition', async () => (await conditions()).length === 0);
    await client.close();
  });

  it('that leave are gone at once', async () => {
    const client = await connect('redis-2', replicas[0]);
    client.send({ typeUrl: cluster });
    client.ack(await client.response(0));
    await until('it is known', () => known('redis-2', replicas[1])?.connected);
    await client.close();
    await until('it is gone', () => known('redis-2', replicas[1])?.connected === false);
    expect(known('redis-2', replicas[1])?.facts.applied).toBeGreaterThan(0);
  });

  // The last one: it ends a replica.
  it('whose replica ends before they do leave no registered Dataplane behind; one that turns to the other replica keeps it', async () => {
    const register = async (name: string, replica: ZoneProgram): Promise<DeltaClient> => {
      const client = await connect(name, replica);
      const dataplane = { type: 'Dataplane', mesh: 'default', name, networking: { address: '127.0.0.1', inbound } };
      const metadata = { 'dataplane.resource': JSON.stringify(dataplane) };
      client.send({ node: { id: `default.${name}`, metadata }, typeUrl: listener });
      client.ack(await client.response(0));
      return client;
    };
    const [lost, kept] = [await register('kuma-1', replicas[1]), await register('kuma-2', replicas[1])];
    const status = async (name: string): Promise<number> =>
      (await adminFetch(`${replicas[0].restUrl}/meshes/default/dataplanes/${name}`)).status;
    expect([await status('kuma-1'), await status('kuma-2')]).toEqual([200, 200]);
    stopped.add(replicas[1]);
    await replicas[1].stop();
    await Promise.all([lost.close(), kept.close()]);
    await register('kuma-2', replicas[0]);
    await until('the Dataplane is gone', async () => (await status('kuma-1')) === 404);
    // It was without a stream as early, and would be gone by now.
    await until('the other is known to be connected', () => known('kuma-2')?.connected);
    expect([await status('kuma-2'), await status('redis-1')]).toEqual([200, 200]);
  });
});
