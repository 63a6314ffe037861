import { createAuthentication, createZoneTokenService } from '@causeway/access';
import { coreKinds } from '@causeway/kinds';
import type { LeadershipInsight } from '@causeway/queries';
import { globalIdentity, type JsonObject } from '@causeway/resources';
import { silentLogger, type LeaderStatus } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { TestPlane } from '../support/test-plane';
import { openZoneAccess } from './open-zone-access';
import { type SeedResource, meshId, restFixture, type FixtureOptions, type RestFixture } from './rest-fixture';

const zone = (name: string, spec: JsonObject = {}, status?: JsonObject): SeedResource => ({
  id: globalIdentity('Zone', name),
  spec,
  ...(status ? { status } : {}),
});
const service = (name: string, spec: JsonObject, status?: JsonObject): SeedResource => ({
  id: { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name },
  spec,
  ...(status ? { status } : {}),
});
const SOUND: JsonObject = { ports: [{ port: 80 }] };
const NOW = 1_767_225_600_000;
const HOUR = 3_600_000;
const INSIGHT: JsonObject = {
  doubtful: { claim: 'epoch', detail: 'claims the leader epoch 9', instance: 'east-1', seenAt: NOW },
  refused: { storeId: 's2', instance: 'east-9', refusedAt: NOW },
  newIncarnation: { incarnation: 'life-2', since: NOW, until: NOW },
  kinds: [
    { kind: 'MeshService', rejections: [{ wireKey: 'redis-x.default', reason: 'quarantined by the operator' }] },
    4,
  ],
};

interface Report {
  readonly check: string;
  readonly total: number;
  readonly findings: readonly {
    readonly resource?: { name: string };
    readonly what: string;
    readonly advice: string;
  }[];
}

describe('GET /_doctor', () => {
  let rest: RestFixture;
  const open = async (options: FixtureOptions, ...seeds: readonly SeedResource[]): Promise<void> => {
    rest = await restFixture({ cp: { role: 'global' }, ...options });
    await rest.seed(...seeds);
  };
  const look = async (): Promise<{ total: number; checks: Record<string, Report['findings']> }> => {
    const answer = await rest.server.inject({ method: 'GET', url: '/_doctor' });
    expect(answer.statusCode).toBe(200);
    const { total, checks }: { total: number; checks: Report[] } = answer.json();
    return { total, checks: Object.fromEntries(checks.map(({ check, findings }) => [check, findings])) };
  };
  afterEach(() => rest.close());

  it('finds nothing where nothing is wrong', async () => {
    await open({}, zone('east'), service('redis', SOUND));
    const { total, checks } = await look();
    expect(total).toBe(0);
    expect(Object.keys(checks)).toEqual([
      'rules',
      'references',
      'conditions',
      'claims',
      'stores',
      'incarnations',
      'rejections',
      'lost',
      'quarantine',
      'mesh',
      'leases',
      'names',
      'enrolments',
      'identities',
      'leader',
      'tokens',
      'keys',
      'readiness',
      'copies',
    ]);
  });

  it('names machines that go on with what they had before enrolments, and those that are to be confirmed', async () => {
    const enrolment = (name: string, namespace: string, spec: JsonObject): SeedResource => ({
      id: { kind: 'Enrolment', mesh: 'default', zone: 'east', namespace, name },
      spec: { tokens: [], issuedAt: 0, ...spec },
    });
    await open(
      { cp: { role: 'zone', zone: 'east', federated: true } },
      enrolment('old', 'shop', { by: 'upgrade', services: ['web', 'api'] }),
      enrolment('user', 'default', { by: 'upgrade' }),
      enrolment('back', 'default', { by: 'import', services: ['web'], confirmBefore: NOW }),
      enrolment('new', 'default', { by: 'token', services: ['web'] }),
    );
    const { checks } = await look();
    expect(checks['enrolments']).toEqual([
      expect.objectContaining({
        resource: expect.objectContaining({ type: 'Dataplane', name: 'old' }),
        what: expect.stringContaining('valid for web, api only'),
        advice: expect.stringContaining('old --mesh default --namespace shop --service web,api --bundle'),
      }),
      expect.objectContaining({
        what: expect.stringContaining('until 2026-01-01T00:00:00.000Z'),
        advice: expect.stringContaining('causeway workloads confirm back --mesh default'),
      }),
    ]);
  });

  it("T000-20 names both controllers where the expected Mesh is somebody else's, and T000-35 parameters that are refused", async () => {
    const conditions = [
      { type: 'Accepted', status: 'False', reason: 'InvalidParameters', message: 'no such ConfigMap' },
    ];
    await open(
      {},
      { id: meshId('default'), spec: { controllerName: 'x.io/y' } },
      { id: meshId('team-b'), status: { conditions } },
    );
    const { checks } = await look();
    expect(checks['mesh']).toMatchObject([
      { what: 'the Mesh "default" has the controller "x.io/y", this is "causeway.io/control-plane"' },
    ]);
    expect(checks['conditions']).toMatchObject([
      {
        resource: { type: 'Mesh', name: 'team-b' },
        what: 'Accepted InvalidParameters: no such ConfigMap',
        advice: expect.stringMatching(/^correct what parametersRef names/) as string,
      },
    ]);
  });

  it('names SPIFFE ids that namespaces share, and policies whose ids end with the form that they have', async () => {
    const uri = 'spiffe://default.west.mesh.local/workload/redis';
    const at = { mesh: 'default', zone: 'west', namespace: '', name: 'zone' };
    const state = { signs: 'Workload', step: 'Announcing', namespaces: ['shop'] };
    const rules = { allow: { a: { from: [{ spiffeId: { type: 'Exact', value: uri } }] } } };
    const policy = { kind: 'AccessPolicy', mesh: 'default', zone: '', namespace: 'default', name: 'redis' };
    await open(
      {},
      {
        id: { kind: 'IdentityPathState', ...at },
        spec: { ...state, shared: [{ id: uri, namespaces: ['dev', 'shop'] }] },
      },
      { id: policy, spec: { targetRef: { kind: 'Mesh' }, default: rules } },
      { id: { ...policy, name: 'others' }, spec: { default: { allow: { a: { from: [{ zone: 'west' }] } } } } },
    );
    const { checks } = await look();
    expect(checks['identities']).toEqual([
      {
        what: `zone west, mesh default: ${uri} is the id of workloads in namespaces dev, shop: rules by namespace or service match neither`,
        advice: expect.stringMatching(/^let ids have namespaces/) as string,
      },
      {
        resource: expect.objectContaining({ type: 'AccessPolicy', name: 'redis' }) as object,
        what: `names ${uri}: outside of namespace default workloads show it only until the form of ids has changed`,
        advice: expect.stringMatching(/^name the ids with the namespace too/) as string,
      },
    ]);
  });

  it('says that a mass end of leases is held', async () => {
    await open({ cp: { role: 'zone', zone: 'east', federated: false } });
    const notes = [{ area: 'agent-leases', key: 'hold', value: { since: NOW, expired: 40, total: 100 } }];
    await rest.store.write({ changes: [], onRefusal: 'abort', metadata: notes });
    const { checks } = await look();
    expect(checks['leases']).toEqual([
      {
        what: '40 of 100 leases have expired, and none of them ends since 2026-01-01T00:00:00.000Z',
        advice: expect.stringMatching(/causeway leases release$/) as string,
      },
    ]);
  });

  it('says that nobody leads, and that Redis counts no more in who leads', async () => {
    let status: LeaderStatus = { leading: false, epoch: 0, transitions: 0, witness: 'lock' };
    const leadership = (): LeadershipInsight => ({ status, lockKey: 'causeway:leader:s1', leaseMs: 3_000 });
    await open({ insights: { leadership } });
    const said = async (): Promise<string[]> =>
      ((await look()).checks['leader'] ?? []).map(({ what, advice }) => `${what} => ${advice}`);
    expect(await said()).toEqual([]);
    status = { ...status, leaderless: 5_900, refused: 5_800 }; // as a change of the leader may take
    expect(await said()).toEqual([]);
    const free =
      'see who holds it, and free it: redis-cli GET causeway:leader:s1, redis-cli DEL causeway:leader:s1; Redis counts ' +
      'again 9 s after the leader has it. To do without Redis: CAUSEWAY_LEADER_BACKEND=postgres';
    status = { ...status, leaderless: 8_100, refused: 8_000 };
    expect(await said()).toEqual([
      `no replica leads since 8 s, and a process that does not lead holds causeway:leader:s1 in Redis => ${free}`,
    ]);
    status = { leading: true, epoch: 1, transitions: 1, witness: 'lease' };
    expect(await said()).toEqual([
      'a process that does not lead held causeway:leader:s1 in Redis: the lease in Postgres alone decides who leads, and replicas of ' +
        `earlier versions do not lead => ${free}`,
    ]);
    status = { leading: false, epoch: 0, transitions: 0, witness: 'lock', leaderless: 60_000 };
    expect(await said()).toEqual([
      'no replica leads since 60 s => see docs/guides/troubleshooting.md#causewaynoleader, and what the logs of the replicas say',
    ]);
  });

  it('names each thing with what to do', async () => {
    const quarantine = { all: true, resources: [{ type: 'MeshService', mesh: 'm', name: 'redis' }, 7] };
    await open(
      { insights: { insightOf: ({ id }) => (id.name === 'east' ? INSIGHT : undefined) } },
      zone('east', { quarantine }, { lost: { since: '2026-01-01T00:00:00Z', policy: 'keep' } }),
      service('odd', { ports: 'x' }),
      service('*', SOUND),
      service('alone', SOUND, {
        conditions: [{ type: 'MeshMissing', status: 'True', reason: 'NoSuchMesh', message: 'gone' }, null, 1],
      }),
      service('torn', SOUND, {
        conditions: [{ type: 'MembershipConflict', status: 'True', reason: 'OtherMesh', message: 'shop is of m' }],
      }),
      service('agreed', SOUND, { conditions: [{ type: 'MembershipConflict', status: 'False' }] }),
      service('full', SOUND, { conditions: [{ type: 'VIPAllocated', status: 'False', reason: 'RangeExhausted' }] }),
      service('well', SOUND, { conditions: [{ type: 'VIPAllocated', status: 'True' }] }),
      service('unsent', SOUND, { conditions: [{ type: 'BreaksEnvoyRules', status: 'True', reason: 'NotSent' }] }),
      service('strange', SOUND, { conditions: 'x' }),
    );
    const { total, checks } = await look();
    const said = (name: string): string[] => (checks[name] ?? []).map(({ what, advice }) => `${what} => ${advice}`);
    expect(said('rules')).toEqual([
      'spec.quarantine.resources[1]: must be an object; got 7 (wrong-type) => change it',
      expect.stringMatching(
        /^spec\.ports.* => change it in zone east, or: causeway zones quarantine east MeshService\/odd$/,
      ),
      expect.stringMatching(/^name: must be 1 to 253 of/),
    ]);
    expect(said('conditions')).toEqual([
      expect.stringMatching(/^MeshMissing NoSuchMesh: gone => make the Mesh/),
      expect.stringMatching(/^MembershipConflict OtherMesh: shop is of m => change the labels of its Namespace/),
      expect.stringMatching(/^VIPAllocated RangeExhausted:/),
      expect.stringMatching(/^BreaksEnvoyRules NotSent: .* => change what the message names/),
    ]);
    expect(said('claims')).toEqual([expect.stringContaining('causeway zones reset-epoch east')]);
    expect(said('stores')).toEqual([expect.stringContaining('causeway zones adopt east s2')]);
    expect(said('incarnations')).toEqual([expect.stringContaining('causeway zones confirm east')]);
    expect(said('rejections')).toEqual([expect.stringContaining('redis-x.default is rejected: quarantined')]);
    expect(said('lost')).toEqual([expect.stringContaining('policy keep')]);
    expect(said('quarantine')).toEqual([
      'is quarantined => when it is well again: causeway zones quarantine east --release',
      'its MeshService/redis is quarantined => when it is well again: causeway zones quarantine east MeshService/redis --mesh m --release',
    ]);
    expect(total).toBe(14);
  });

  it('warns of tokens that end soon and have no successor, and of keys that cannot be used', async () => {
    const clock = new FakeClock(NOW);
    const plane = new TestPlane({ role: 'global' });
    await plane.index.reached(0);
    const { store, index } = plane;
    const parts = { registry: coreKinds, clock, logger: silentLogger, store, index };
    const authentication = createAuthentication({ ...parts, cp: { role: 'global' } });
    const zones = createZoneTokenService(parts);
    await authentication.tokens.ensureKey();
    await zones.tokens.ensureKey();
    await plane.put('GlobalSecret', 'user-token-signing-key-7', { data: 'aHVudGVyMg==' });
    await index.reached(await store.head());
    await open({
      clock,
      userAccess: authentication.tokens,
      zoneAccess: { ...openZoneAccess, list: () => zones.tokens.list() },
      insights: { keyFaults: () => authentication.faults() },
    });
    for (const [name, validFor] of [...Object.entries({ anna: '10h', bob: '30d', eve: '10h', gone: '10h' })])
      await authentication.tokens.issue({ name, validFor });
    const [revoked] = (await authentication.tokens.list()).filter(({ facts }) => facts['name'] === 'gone');
    await authentication.tokens.revoke(revoked?.id ?? '');
    await zones.tokens.issue({ zone: 'east', validFor: '100d' });
    await zones.tokens.issue({ zone: 'west', validFor: '100d' });
    const found = async (): Promise<Record<string, string[]>> => {
      const { checks } = await look();
      const texts = (name: string): string[] => (checks[name] ?? []).map(({ what, advice }) => `${what} => ${advice}`);
      return { tokens: texts('tokens').map((text) => text.replace(/ \(.*?\)/, '')), keys: texts('keys') };
    };
    const { tokens, keys } = await found();
    expect(tokens).toEqual([]);
    expect(keys).toEqual([expect.stringMatching(/^cannot be used: user-token-signing-key-7: .* no key in PEM/)]);
    clock.advance(9 * HOUR);
    await authentication.tokens.issue({ name: 'eve', validFor: '10h' });
    expect((await found())['tokens']).toEqual([
      'the user token of "anna" ends at 2026-01-01T10:00:00.000Z, and there is no later one => where it is still needed: causeway tokens user anna',
    ]);
    clock.advance(93 * 24 * HOUR);
    await zones.tokens.issue({ zone: 'west' });
    expect((await found())['tokens']).toEqual([
      expect.stringMatching(/^the zone token of zone east ends at 2026-04-11T/),
    ]);
    zones.close();
    authentication.close();
    await plane.close();
  });

  it('tells the first hundred and how many there are, and of a secret only where it is wrong', async () => {
    const secret = { kind: 'Secret', mesh: 'default', zone: '', namespace: '', name: 's' };
    const services = Array.from({ length: 250 }, (_, i) => service(`s-${i}`, { ports: [], odd: 'x'.repeat(10_000) }));
    await open({}, ...services, { id: secret, spec: { data: 'not base64: hunter2!' } });
    const answer = await rest.server.inject({ method: 'GET', url: '/_doctor' });
    const { total, checks }: { total: number; checks: Report[] } = answer.json();
    expect([total, checks[0]?.total, checks[0]?.findings.length]).toEqual([251, 251, 100]);
    expect(answer.body.length).toBeLessThan(100_000);
    expect(answer.body).not.toContain('hunter2');
  });

  it('lets others have their turn, and looks once for all who ask meanwhile', async () => {
    await open({}, ...Array.from({ length: 5_000 }, (_, i) => service(`s-${i}`, SOUND)));
    let turns = 0;
    let over = false;
    const count = (): void => {
      turns += 1;
      if (!over) setImmediate(count);
    };
    count();
    const answers = await Promise.all([look(), look(), look()]);
    over = true;
    expect(answers.map(({ total }) => total)).toEqual([0, 0, 0]);
    expect(turns).toBeGreaterThan(50);
  });

  it('is for whoever may diagnose', async () => {
    await open({ access: { open: false, operatorToken: 'secret' } });
    const get = (headers: Record<string, string>) => rest.server.inject({ method: 'GET', url: '/_doctor', headers });
    expect((await get({})).statusCode).toBe(401);
    expect((await get({ authorization: 'Bearer secret' })).statusCode).toBe(200);
  });
});
