/*
 * A process that is killed is NotReady and out of the endpoints of all zones within 2 s; an agent that is killed goes
 * after its lease, a machine likewise; control planes that were away for two leases withdraw nobody; figures by
 * `bench/withdraw.ts`. Also: libs/agent/src/health/health-checks.spec.ts,
 * libs/controllers/src/leases/lease-reaper.spec.ts, test/traffic/agents.long.spec.ts.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataplaneTokens } from '@causeway/access';
import { LeaseHolder, type LeasedDataplane, type LeaseState } from '@causeway/agent/testing';
import { silentLogger, systemClock } from '@causeway/runtime';
import { POSTGRES_BACKEND, type PostgresBackend } from '@causeway/store-postgres';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import { status } from '@grpc/grpc-js';
import { Client } from 'pg';
import { DATAPLANE_TOKENS } from '../../apps/zone/src/identity/workload-identity.module';
import type { ParsedJson } from '../rest/rest-fixture';
import { deltaClient } from '../support/ads-client';
import { createMigratedDatabase } from '../support/migrated-database';
import type { TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';
import { adminFetch } from '../support/admin-credential';

/** Length of a lease without a heartbeat, ms: longer than any pause of a busy host. */
const LEASE = 4_000;

interface TestAgent {
  readonly holder: LeaseHolder;
  /** As a process that is killed: nothing is withdrawn. */
  kill(): Promise<void>;
}

const inbound = [{ port: 16379, servicePort: 6379, tags: { 'kuma.io/service': 'redis' } }];

function dataplane(name: string, more: Partial<LeasedDataplane> = {}): LeasedDataplane {
  return { mesh: 'default', name, labels: {}, spec: { networking: { address: '127.0.0.1', inbound } }, ...more };
}

/** Agents of machines at two replicas of a zone, over gRPC, with Postgres. */
describe('leases of agents', () => {
  let database: TestDatabase;
  let replicas: readonly [ZoneProgram, ZoneProgram];
  let token = '';
  const agents = new Set<TestAgent>();
  const settings = (): Record<string, string> => ({
    DATABASE_URL: database.url,
    CAUSEWAY_AGENT_LEASE: `${LEASE}ms`,
  });

  function agent(more: Partial<ConstructorParameters<typeof LeaseHolder>[0]> = {}): TestAgent {
    const end = new AbortController();
    const holder = new LeaseHolder({
      instance: randomUUID(),
      machine: 'vm-1',
      version: '1',
      clock: systemClock,
      logger: silentLogger,
      addresses: () => replicas.map(({ xds }) => `127.0.0.1:${xds.address.port}`),
      tls: () => undefined,
      authorization: () => `Bearer ${token}`,
      ...more,
    });
    const running = holder.run(end.signal);
    const one: TestAgent = {
      holder,
      kill: async () => {
        agents.delete(one);
        end.abort();
        await running;
      },
    };
    agents.add(one);
    return one;
  }
  const get = async (name: string): Promise<ParsedJson> => {
    const answer = await adminFetch(`${replicas[0].restUrl}/meshes/default/dataplanes/${name}`);
    return answer.ok ? answer.json() : undefined;
  };
  /** Waits until the first replica has it, which another one may have stored. */
  const found = (name: string): Promise<ParsedJson> => until(`${name} is known`, () => get(name));
  const stateOf = ({ holder }: TestAgent, name: string): LeaseState | undefined =>
    holder.states().get(`default/${name}`);
  const held = (of: TestAgent, name: string): Promise<unknown> =>
    until(`the lease of ${name}`, () => stateOf(of, name)?.type === 'held');
  const failureOf = ({ holder: { attachment } }: TestAgent): string =>
    attachment.type === 'detached' ? (attachment.failure ?? '') : '';
  const inboundState = async (name: string): Promise<string> =>
    (await get(name))?.spec.networking.inbound[0].state ?? 'Ready';

  async function ask(sql: string, values: unknown[] = []): Promise<unknown> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query({ text: sql, values, rowMode: 'array' });
    await client.end();
    return rows[0]?.[0];
  }
  /** When the lease of a Dataplane runs out, as Postgres has it; ms since 1970. */
  const endOf = async (name: string): Promise<number> =>
    Number(await ask('SELECT expires_at FROM agent_leases WHERE name = $1', [name]));
  const haveAllRunOut = async (): Promise<boolean> =>
    (await ask('SELECT max(expires_at) < extract(epoch FROM clock_timestamp()) * 1000 FROM agent_leases')) === true;

  beforeAll(async () => {
    database = await createMigratedDatabase();
    const first = await ZoneProgram.start(settings());
    await first.untilLeading();
    replicas = [first, await ZoneProgram.start(settings())];
    const { tokens } = first.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
    const issue = () => tokens.issue({ mesh: 'default', isKuma: true }).catch(() => undefined);
    token = (await until('a key that signs tokens', issue)).token;
    await first.takeKumaTokens();
  });
  afterEach(async () => void (await Promise.all([...agents].map((one) => one.kill()))));
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await database.drop();
  });

  it('register Dataplanes, tell what is not ready and why, and remove them at once when they are withdrawn', async () => {
    const one = agent();
    one.holder.setDataplanes([dataplane('redis-1', { labels: { team: 'db' } })]);
    await held(one, 'redis-1');
    const stored = await found('redis-1');
    expect(stored?.labels).toMatchObject({ team: 'db', 'causeway.io/leased-by': expect.any(String) });
    const check = { inbound: 0, check: 'tcp 127.0.0.1:6379', since: Date.now() };
    one.holder.setReadiness(dataplane('redis-1'), [{ ...check, ready: false, reason: 'connection refused' }]);
    await until('it is not ready', async () => (await inboundState('redis-1')) === 'NotReady');
    const condition = async (): Promise<ParsedJson> =>
      (await get('redis-1'))?.status?.conditions?.find(({ type }: ParsedJson) => type === 'Healthy');
    await until('why is told', async () => (await condition())?.status === 'False');
    expect((await condition())?.message).toBe('inbound 0: tcp 127.0.0.1:6379: connection refused');
    const exposed = { ready: false, reason: 'it listens at 0.0.0.0:6379', plaintextReachable: true };
    one.holder.setReadiness(dataplane('redis-1'), [{ ...check, ...exposed }]);
    await until('that it can be reached is told', async () => (await condition())?.reason === 'PlaintextReachable');
    one.holder.setReadiness(dataplane('redis-1'), [{ ...check, ready: true, reason: '' }]);
    await until('it is ready', async () => (await inboundState('redis-1')) === 'Ready');
    await until('that is told', async () => (await condition())?.status === 'True');

    const obeyed = async (): Promise<ParsedJson> =>
      (await get('redis-1'))?.status?.conditions?.find(({ type }: ParsedJson) => type === 'Obeyed');
    const parts = Array.from({ length: 70 }, (_, n) => ({ name: `outbound:${n}`, what: 'x'.repeat(1_000) }));
    one.holder.setUnsupported(dataplane('redis-1'), parts);
    await until('what cannot be done is told', async () => (await obeyed())?.reason === 'PlaneCannot');
    expect((await obeyed())?.message).toMatch(/^outbound:0: x{199}…; .*; and 56 more$/);
    expect((await condition())?.status).toBe('True');
    one.holder.setUnsupported(dataplane('redis-1'), []);
    await until('that is told', async () => (await obeyed()) === undefined);

    const shared = async (): Promise<ParsedJson> =>
      (await get('redis-1'))?.status?.conditions?.find(({ type }: ParsedJson) => type === 'SharedIdentity');
    const labels = { team: 'db' };
    one.holder.setDataplanes([dataplane('redis-1', { labels, clientDataplane: 'web-1' })]);
    await until('as whom its machine calls is told', async () => (await shared())?.reason === 'SameMachine');
    expect((await shared())?.message).toMatch(/^programs of this machine call as Dataplane web-1: /);
    one.holder.setDataplanes([dataplane('redis-1', { labels })]);
    await until('that is told', async () => (await shared()) === undefined);

    one.holder.stopServing('the agent stops');
    expect(await one.holder.settled(AbortSignal.timeout(60_000))).toBe(true);
    expect(await inboundState('redis-1')).toBe('NotReady');
    one.holder.setDataplanes([]);
    expect(await one.holder.settled(AbortSignal.timeout(60_000))).toBe(true);
    expect(await get('redis-1')).toBeUndefined();
  });

  it('tell the ranges of virtual IPs and the suffixes of names, and again when the mesh has other ones', async () => {
    const told: unknown[] = [];
    const one = agent({ onZoneFacts: (facts) => void told.push(facts) });
    const virtualRanges = ['241.0.0.0/8', '242.0.0.0/8', '243.0.0.0/8'];
    one.holder.setDataplanes([dataplane('told-1')]);
    await held(one, 'told-1');
    one.holder.setDataplanes([dataplane('told-1', { labels: { again: 'yes' } })]);
    await until('it is stored', async () => (await get('told-1'))?.labels['again'] === 'yes');
    expect(told).toMatchObject([{ virtualRanges, dnsSuffixes: ['mesh.local'] }]);
    const spec = { vipRanges: { MeshService: '244.7.0.0/16' }, dataplaneTokens: 'Kuma' };
    await replicas[1].put('/meshparameters/own-ranges', { type: 'MeshParameters', name: 'own-ranges', spec });
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'own-ranges' };
    const mesh = { type: 'Mesh', name: 'default', spec: { parametersRef } };
    await replicas[1].put('/meshes/default', mesh);
    await until('the ranges of the mesh', () => told.length === 2);
    expect(told[1]).toMatchObject({ virtualRanges: [...virtualRanges, '244.7.0.0/16'], dnsSuffixes: ['mesh.local'] });
  });

  it('are refused with field, rule and value; other Dataplanes of the agent are registered', async () => {
    const one = agent();
    const networking = { address: '127.0.0.1', inbound: [{ port: 70_000 }] };
    one.holder.setDataplanes([dataplane('bad-1', { spec: { networking } }), dataplane('good-1')]);
    await held(one, 'good-1');
    await until('the other is refused', () => stateOf(one, 'bad-1')?.type === 'refused');
    expect(stateOf(one, 'bad-1')).toMatchObject({
      violations: [{ field: 'spec.networking.inbound[0].port', rule: expect.any(String), message: expect.any(String) }],
    });
    expect(await get('bad-1')).toBeUndefined();
    one.holder.setDataplanes([dataplane('bad-1')]);
    await held(one, 'bad-1');
    await until('the other is gone', async () => (await get('good-1')) === undefined);
  });

  it('are refused to a Dataplane that two VirtualNodes select, naming both, as it is to kuma-dp (T003-32)', async () => {
    const node = (name: string, labels: Record<string, string>): Promise<void> =>
      replicas[0].put(`/meshes/default/virtualnodes/${name}`, {
        type: 'VirtualNode',
        name,
        namespace: 'default',
        spec: { podSelector: { matchLabels: labels }, listeners: [{ portMapping: { port: 80, protocol: 'http' } }] },
      });
    // The token of these agents is in Kuma's form, which the parameters of the mesh let in.
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'kuma-tokens' };
    const spec = { namespaceSelector: {}, parametersRef };
    await replicas[0].put('/meshes/default', { type: 'Mesh', name: 'default', spec });
    await node('v1', { app: 'a' });
    await node('v2', { tier: 'web' });
    const labels = { app: 'a', tier: 'web' };
    const both = (name: string): string =>
      `found multiple matching VirtualNodes for Dataplane default/${name}: default/v1,default/v2`;
    const one = agent();
    one.holder.setDataplanes([dataplane('overlap-1', { labels }), dataplane('overlap-2', { labels: { app: 'a' } })]);
    await until('it is refused', () => stateOf(one, 'overlap-1')?.type === 'refused');
    expect(stateOf(one, 'overlap-1')).toMatchObject({
      violations: [{ field: 'labels', rule: 'MembershipConflict', message: both('overlap-1') }],
    });
    await held(one, 'overlap-2');
    const document = {
      type: 'Dataplane',
      mesh: 'default',
      name: 'kuma-1',
      labels,
      networking: { address: '127.0.0.1' },
    };
    const kuma = deltaClient(replicas[1].xds.address.port, 'default.kuma-1', token);
    kuma.send({
      node: { id: 'default.kuma-1', metadata: { 'dataplane.resource': JSON.stringify(document) } },
      typeUrl: RESOURCE_TYPES.listener,
    });
    expect(await kuma.end()).toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: expect.stringContaining(both('kuma-1')),
    });
    await kuma.close();
    expect([await get('overlap-1'), await get('kuma-1')]).toEqual([undefined, undefined]);
    // The binding is the leader's, and another leader leaves it as it is (T003-33).
    const bound = async (): Promise<ParsedJson> => (await get('overlap-2'))?.status?.virtualNode;
    await until('it is bound', async () => (await bound())?.name === 'v1');
    await Promise.all(['v1', 'v2'].map((name) => replicas[0].delete(`/meshes/default/virtualnodes/${name}`)));
    await until('it is bound no more', async () => (await bound()) === undefined);
  });

  it('are of 64 Dataplanes an agent at most: one that names more is told so, and holds none', async () => {
    const [greedy, other] = [agent(), agent({ machine: 'vm-2' })];
    greedy.holder.setDataplanes(Array.from({ length: 200 }, (_, n) => dataplane(`many-${n}`)));
    other.holder.setDataplanes([dataplane('other-1')]);
    await until('the refusal', () => failureOf(greedy).includes('at most'));
    await held(other, 'other-1');
    expect(await get('many-199')).toBeUndefined();
  });

  it('are not taken by an agent of another machine, nor by a copy of it, while the first lives', async () => {
    const instance = randomUUID();
    const first = agent({ instance });
    first.holder.setDataplanes([dataplane('redis-2')]);
    await held(first, 'redis-2');
    const other = agent({ machine: 'vm-2' });
    other.holder.setDataplanes([dataplane('redis-2')]);
    await until('it is told', () => stateOf(other, 'redis-2')?.type === 'other');
    expect(stateOf(other, 'redis-2')).toMatchObject({ reason: expect.stringContaining('machine vm-1 at 127.0.0.1') });
    await first.kill();
    await held(other, 'redis-2');
  });

  it('are asked for by a copy of a machine, which doctor names at every replica while it asks', async () => {
    const instance = randomUUID();
    const secrets = [0, 1].map(() => randomBytes(32).toString('base64url'));
    const first = agent({ instance, secret: secrets[0] ?? '' });
    first.holder.setDataplanes([dataplane('cloned-1')]);
    await held(first, 'cloned-1');
    const clone = agent({ instance, machine: 'vm-9', secret: secrets[1] ?? '' });
    clone.holder.setDataplanes([dataplane('cloned-1')]);
    const copies = async ({ restUrl }: ZoneProgram): Promise<string> => {
      const answer: ParsedJson = await (await adminFetch(`${restUrl}/_doctor`)).json();
      const found = (answer.checks as ParsedJson[]).find(({ check }) => check === 'copies');
      return JSON.stringify(found?.findings);
    };
    const named = /"name":"cloned-1".*machine vm-9 at 127\.0\.0\.1 is a copy of machine vm-1 at 127\.0\.0\.1/;
    for (const replica of replicas) await until('doctor names it', async () => named.test(await copies(replica)));
    await clone.kill();
    for (const replica of replicas) await until('it is gone', async () => (await copies(replica)) === '[]');
  });

  it('go over by the secret of the state folder alone: not to a thief with the same token and all that labels show', async () => {
    const [instance, secret] = [randomUUID(), randomBytes(32).toString('base64url')];
    const first = agent({ instance, secret });
    first.holder.setDataplanes([dataplane('redis-9')]);
    await held(first, 'redis-9');
    const { creationTime, labels } = await found('redis-9');
    const shown = { instance: labels['causeway.io/leased-by'], machine: 'vm-1' };
    expect(shown.instance).toBe(instance);
    for (const more of [{}, { secret: randomBytes(32).toString('base64url') }]) {
      const thief = agent({ ...shown, ...more });
      const spec = { networking: { address: '127.0.0.9', inbound } };
      thief.holder.setDataplanes([dataplane('redis-9', { spec })]);
      await until('it is told', () => stateOf(thief, 'redis-9')?.type === 'other');
      expect(stateOf(thief, 'redis-9')).toMatchObject({
        reason: expect.stringMatching(/machine vm-1 at 127\.0\.0\.1/),
      });
      thief.holder.setDataplanes([]);
      expect(await thief.holder.settled(AbortSignal.timeout(60_000))).toBe(true);
      expect(stateOf(thief, 'redis-9')?.type).toBe('other');
      await thief.kill();
    }
    expect(await get('redis-9')).toMatchObject({ creationTime, spec: { networking: { address: '127.0.0.1' } } });
    expect(stateOf(first, 'redis-9')?.type).toBe('held');
    // No secret is written down.
    expect(JSON.stringify(await leases())).not.toContain(secret);
    expect(await ask('SELECT count(*)::int FROM agent_lease_secrets WHERE secret_hash = $1', [secret])).toBe(0);

    await first.kill();
    const again = agent({ instance, secret });
    again.holder.setDataplanes([dataplane('redis-9')]);
    await held(again, 'redis-9');
    expect((await get('redis-9')).creationTime).toBe(creationTime);
    again.holder.setDataplanes([]);
    await until('it is gone', async () => (await get('redis-9')) === undefined);
  });

  it('of an agent of an earlier version go over by its instance and address, until it shows a secret', async () => {
    const instance = randomUUID();
    const old = agent({ instance });
    old.holder.setDataplanes([dataplane('redis-10')]);
    await held(old, 'redis-10');
    await old.kill();
    const secret = randomBytes(32).toString('base64url');
    const updated = agent({ instance, secret });
    updated.holder.setDataplanes([dataplane('redis-10')]);
    await held(updated, 'redis-10');
    const without = agent({ instance });
    without.holder.setDataplanes([dataplane('redis-10')]);
    await until('it is told', () => stateOf(without, 'redis-10')?.type === 'other');
    expect(stateOf(without, 'redis-10')).toMatchObject({ reason: expect.stringContaining('another secret') });
  });

  it('need a token that holds for the Dataplane as it is to be, and for the stored one', async () => {
    const { tokens } = replicas[0].app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
    const other = (await tokens.issue({ mesh: 'default', name: 'other-1' })).token;
    const one = agent({ authorization: () => `Bearer ${other}` });
    one.holder.setDataplanes([dataplane('redis-5')]);
    await until('it is refused', () => stateOf(one, 'redis-5')?.type === 'refused');
    expect(stateOf(one, 'redis-5')).toMatchObject({ reason: expect.stringContaining('claim "Name" is "other-1"') });
    expect(await get('redis-5')).toBeUndefined();
    const nobody = agent({ authorization: () => undefined });
    nobody.holder.setDataplanes([dataplane('redis-5')]);
    await until('it is told', () => failureOf(nobody).startsWith('UNAUTHENTICATED'));

    // Written by hand, for another workload: a caller whose token has one of these tags does not get it.
    const foreign = [{ port: 1, tags: { 'kuma.io/service': 'bank' } }];
    await replicas[0].put('/meshes/default/dataplanes/bank-1', {
      type: 'Dataplane',
      mesh: 'default',
      name: 'bank-1',
      networking: { address: '127.0.0.1', inbound: foreign },
    });
    const tagged = (await tokens.issue({ mesh: 'default', isKuma: true, tags: { 'kuma.io/service': ['redis'] } }))
      .token;
    const thief = agent({ authorization: () => `Bearer ${tagged}` });
    thief.holder.setDataplanes([dataplane('bank-1')]);
    await until('it is refused', () => stateOf(thief, 'bank-1')?.type === 'refused');
    expect((await get('bank-1'))?.labels).not.toHaveProperty('causeway.io/leased-by');
  });

  it('outlive a replica; a Dataplane that is removed without them is written again', async () => {
    const third = await ZoneProgram.start(settings());
    const addresses = [third, replicas[1]].map(({ xds }) => `127.0.0.1:${xds.address.port}`);
    const one = agent({ addresses: () => addresses });
    one.holder.setDataplanes([dataplane('redis-6')]);
    await held(one, 'redis-6');
    const { creationTime } = await found('redis-6');
    await third.stop();
    await until('it has turned to another', () => one.holder.attachment.type === 'attached');
    await held(one, 'redis-6');
    await sleep(1.5 * LEASE);
    expect((await get('redis-6'))?.creationTime).toBe(creationTime);
    // As a control plane of an earlier version lets users do it.
    const { store } = replicas[0].app.get<PostgresBackend>(POSTGRES_BACKEND, { strict: false });
    const id = { kind: 'Dataplane', mesh: 'default', zone: 'east', namespace: 'default', name: 'redis-6' };
    await store.write({ changes: [{ type: 'delete', id, expect: 'any' }], onRefusal: 'abort' });
    await until('it is back', async () => (await get('redis-6')) !== undefined);
  });

  it("keep the spec of a Dataplane its agent's: another write, or a deletion, is answered 409 with the holder", async () => {
    const one = agent();
    one.holder.setDataplanes([dataplane('redis-8')]);
    await held(one, 'redis-8');
    const [first, second] = replicas;
    const url = (replica: ZoneProgram): string => `${replica.restUrl}/meshes/default/dataplanes/redis-8`;
    const send = (replica: ZoneProgram, method: string, body?: unknown): Promise<Response> =>
      adminFetch(url(replica), {
        method,
        headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    // An address at which the agent would dial the REST interface of its zone.
    const stolen = [{ ...inbound[0], serviceAddress: '127.0.0.1', servicePort: Number(new URL(first.restUrl).port) }];
    const document = (of: unknown, more: object = {}): object => ({
      type: 'Dataplane',
      mesh: 'default',
      name: 'redis-8',
      networking: { address: '127.0.0.1', inbound: of },
      ...more,
    });
    const refusals = [
      await send(first, 'PUT', document(stolen)),
      await send(second, 'PUT', document(stolen)),
      await send(second, 'PATCH', { spec: { networking: { address: '127.0.0.9', inbound } } }),
      await send(first, 'DELETE'),
      await send(second, 'DELETE'),
    ];
    for (const refused of refusals) {
      expect(refused.status).toBe(409);
      expect(await refused.text()).toContain('is leased by the agent of machine vm-1 at 127.0.0.1');
    }
    const same = await send(second, 'PUT', document(inbound, { labels: { team: 'db' } }));
    expect(same.status).toBe(200);
    const labelled = await until('the first replica has the label', async () => {
      const stored = await get('redis-8');
      return stored?.labels.team === 'db' && stored;
    });
    expect(labelled).toMatchObject({
      labels: { 'causeway.io/leased-by': expect.any(String) },
      spec: { networking: { address: '127.0.0.1', inbound } },
    });
    one.holder.setDataplanes([]);
    await until('it is gone', async () => (await get('redis-8')) === undefined);
  });

  it('end after their length where the agent is killed, and not before', async () => {
    await noneLeft();
    const one = agent();
    one.holder.setDataplanes([dataplane('redis-3')]);
    await held(one, 'redis-3');
    await sleep(1.5 * LEASE);
    expect(await found('redis-3')).toBeDefined();
    await one.kill();
    const expires = await endOf('redis-3');
    expect(expires).toBeGreaterThan(0);
    await until('it is gone', async () => (await get('redis-3')) === undefined);
    expect(Date.now()).toBeGreaterThan(expires);
  });

  it('are held where many end at once, until an operator releases them', async () => {
    await noneLeft();
    const many = Array.from({ length: 8 }, (_, n) => ({ name: `mass-${n}`, ...agent() }));
    for (const { holder, name } of many) holder.setDataplanes([dataplane(name)]);
    for (const one of many) await held(one, one.name);
    const left = async (): Promise<number> =>
      (await Promise.all(many.map(({ name }) => get(name)))).filter((found) => found !== undefined).length;
    await Promise.all(many.map((one) => one.kill()));
    await until('the mass end is seen', async () => (await leases()).hold !== undefined);
    // Three may end before they are many (docs/reference/leases.md).
    expect(await left()).toBeGreaterThanOrEqual(many.length - 3);
    await until('all have run out', haveAllRunOut);
    expect(await left()).toBeGreaterThanOrEqual(many.length - 3);
    await release();
    await until('they are gone', async () => (await left()) === 0);
    await until('the hold is over', async () => (await leases()).hold === undefined);
  });

  it('outlive all control planes: nothing is withdrawn', async () => {
    const one = agent();
    one.holder.setDataplanes([dataplane('redis-7')]);
    await held(one, 'redis-7');
    const { creationTime } = await found('redis-7');
    await Promise.all(replicas.map((replica) => replica.stop()));
    await sleep(1.5 * LEASE);
    replicas = [await ZoneProgram.start(settings()), await ZoneProgram.start(settings())];
    await replicas[0].untilLeading().catch(() => undefined);
    await held(one, 'redis-7');
    await sleep(LEASE);
    expect((await get('redis-7'))?.creationTime).toBe(creationTime);
    expect(stateOf(one, 'redis-7')?.type).toBe('held');
  });

  const leases = async (): Promise<ParsedJson> => (await adminFetch(`${replicas[0].restUrl}/_leases`)).json();
  const release = (): Promise<unknown> => adminFetch(`${replicas[1].restUrl}/_leases/release`, { method: 'POST' });
  /** Those of earlier tests, whose agents were killed, end at once on a slow machine, and are a mass end then. */
  const noneLeft = (): Promise<unknown> =>
    until('no lease of an earlier test', async () => {
      await release();
      const { total, hold } = await leases();
      return total === 0 && hold === undefined;
    });
});
