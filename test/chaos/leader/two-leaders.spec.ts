import { createAppMeshLoops, createZoneReconcilers } from '@causeway/controllers';
import { LoopRunner, type ControlLoop } from '@causeway/loops';
import { FollowedRoutes } from '@causeway/meshes';
import { globalIdentity, isJsonArray, isJsonObject } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import { Fenced, type Change } from '@causeway/store';
import { fillAtOnce } from '@causeway/store/testing';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { Client } from 'pg';
import { dataplane, idOf, put, remove } from '../../support/loop-harness';
import { meshesOf } from '../../support/meshes';
import { createMigratedDatabase } from '../../support/migrated-database';
import type { TestDatabase } from '../../support/postgres';
import { readVersions, recordVersions, type RowVersion } from '../../support/row-versions';
import { TestPlane } from '../../support/test-plane';
import { until } from '../../support/until';
import { beginAudit, readAudit } from './audit';
import { CP, RANGE, REST, serviceId } from './world';

/** Addresses of `RANGE`. */
const ADDRESSES = 32;
const ROUNDS = 12;
const APPS = 5;

/** A leader of one epoch that never learns that its term is over. */
interface Believer {
  readonly epoch: number;
  readonly runner: LoopRunner;
}

const addressLoops = (): readonly ControlLoop[] =>
  createZoneReconcilers({ cp: CP, ranges: { MeshService: RANGE }, cooldown: REST });

/** Takes the epoch over and begins a term with these loops. */
async function lead(
  { state, store, index }: TestPlane,
  holder: string,
  loops: readonly ControlLoop[],
): Promise<Believer> {
  const before = await state.lease.readEpoch();
  await state.lease.release(before.epoch, before.holder);
  const epoch = (await state.lease.takeOver(before.epoch, holder, 600_000)) ?? 0;
  const term = { epoch, holder, signal: new AbortController().signal };
  return { epoch, runner: new LoopRunner(loops, { store, index, term, clock: systemClock, logger: silentLogger }) };
}

const written = ({ runner }: Believer): number =>
  Object.values(runner.stats.loops).reduce((sum, loop) => sum + loop.written, 0);

const service = (n: number, app: number): Change => ({
  type: 'put',
  id: serviceId(`s${n}`),
  expect: 'any',
  labels: { app: `app-${app % APPS}`, 'kuma.io/origin': 'zone' },
  spec: { ports: [{ port: 80 }] },
});
const gone = (n: number): Change => ({ type: 'delete', id: serviceId(`s${n}`), expect: 'any' });
const global = (kind: string, name: string, spec = {}): Change => ({
  type: 'put',
  id: globalIdentity(kind, name),
  expect: 'any',
  labels: { 'kuma.io/origin': 'global' },
  spec,
});

/** Changes as users make them between two rounds: services come, go, and change places in the contest for names. */
function churn(round: number): readonly Change[] {
  const come = [0, 1, 2].map((i) => service(3 * round + i, round + i));
  const go = round < 4 ? [] : [gone(3 * round - 12), gone(3 * round - 11)];
  return [...come, ...go, ...(round > 0 ? [service(3 * round - 1, round)] : [])];
}

function availableNames({ status }: RowVersion): string[] {
  const addresses = status?.['addresses'];
  if (!isJsonArray(addresses)) return [];
  return addresses.flatMap((each) =>
    isJsonObject(each) && each['status'] === 'Available' && typeof each['hostname'] === 'string'
      ? [each['hostname']]
      : [],
  );
}

/** Hostnames that two living services showed at one commit (I3), and how often a name changed hands. */
function namesOverTime(versions: readonly RowVersion[]): { readonly shared: string[]; readonly moved: number } {
  const held = new Map<string, readonly string[]>();
  const last = new Map<string, string>();
  const shared: string[] = [];
  let moved = 0;
  for (const version of versions) {
    held.set(version.name, version.living ? availableNames(version) : []);
    const all = [...held.values()].flat();
    if (new Set(all).size < all.length) shared.push(`${version.name} at ${version.revision}`);
    for (const name of held.get(version.name) ?? []) {
      const before = last.get(name);
      if (before !== undefined && before !== version.name) moved += 1;
      last.set(name, version.name);
    }
  }
  return { shared, moved };
}

/** The VirtualNode of a Dataplane by its status. */
function nodeOf({ status }: Pick<RowVersion, 'status'>): string | undefined {
  const node = status?.['virtualNode'];
  return isJsonObject(node) && typeof node['name'] === 'string' ? node['name'] : undefined;
}

/** Returns how often a Dataplane changed its node, and how often it left a node that was still there (T003-33). */
function bindingsOverTime(
  dataplanes: readonly RowVersion[],
  nodes: readonly RowVersion[],
): { readonly moved: number; readonly early: string[] } {
  const goneAt = new Map(nodes.filter(({ living }) => !living).map(({ name, revision }) => [name, revision]));
  const held = new Map<string, string>();
  const early: string[] = [];
  let moved = 0;
  for (const version of dataplanes) {
    const [before, now] = [held.get(version.name), nodeOf(version)];
    if (before !== undefined && before !== now) {
      moved += 1;
      if (!((goneAt.get(before) ?? Infinity) < version.revision))
        early.push(`${version.name} left ${before} at ${version.revision}`);
    }
    if (now !== undefined) held.set(version.name, now);
  }
  return { moved, early };
}

describe('two leaders that both believe, side by side over one Postgres', () => {
  let database: TestDatabase;
  let admin: Client;
  let planes: readonly TestPlane[];
  let user: TestPlane;

  beforeAll(async () => {
    database = await createMigratedDatabase();
    const open = async (): Promise<TestPlane> =>
      new TestPlane(CP, await createPostgresBackend({ url: database.url, poolSize: 3 }));
    [user, ...planes] = [await open(), await open(), await open()];
    admin = new Client({ connectionString: database.url });
    await admin.connect();
    await beginAudit(admin);
    await recordVersions(database.url);
  });
  afterAll(async () => {
    await admin.end();
    await Promise.all([user, ...planes].map((plane) => plane.close()));
    await database.drop();
  });

  /** All step at once until the one who leads has nothing left to do; how often an older one was sent away. */
  async function stepTogether(leader: Believer, older: readonly Believer[]): Promise<number> {
    let fenced = 0;
    for (let busy = true; busy;) {
      const [ours, ...theirs] = await Promise.allSettled([leader, ...older].map(({ runner }) => runner.step()));
      if (ours?.status !== 'fulfilled') throw new Error('the leader was sent away', { cause: ours?.reason });
      for (const their of theirs) {
        if (their.status === 'fulfilled') expect(their.value).toBe(false);
        else expect(their.reason).toBeInstanceOf(Fenced);
        fenced += their.status === 'rejected' ? 1 : 0;
      }
      busy = ours.value;
    }
    return fenced;
  }

  it('I1 I3 I8: only the higher epoch commits; no address and no name twice at any commit, no rest cut short', async () => {
    await user.write([
      global('Mesh', 'default'),
      global('HostnameGenerator', 'by-app', { selector: { meshService: {} }, template: '{{ label "app" }}.mesh' }),
      global('HostnameGenerator', 'by-name', { selector: { meshService: {} }, template: '{{ name }}.mesh' }),
    ]);
    const believers: Believer[] = [];
    let fenced = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const plane = planes[round % 2];
      if (!plane) throw new Error('there are two');
      const older = [...believers];
      const leader = await lead(plane, `holder-${round}`, addressLoops());
      const before = older.map(written);
      const { revision } = await user.store.write({ changes: churn(round), onRefusal: 'abort' });
      // No leader plans before it has seen the users' writes: then the older ones have something to try.
      await Promise.all(planes.map(({ index }) => index.reached(revision)));
      fenced += await stepTogether(leader, older);
      expect(older.map(written)).toEqual(before);
      believers.push(leader);
    }
    expect(believers.map(({ epoch }) => epoch)).toEqual(Array.from({ length: ROUNDS }, (_, i) => i + 1));
    expect(believers.every((each) => written(each) > 0)).toBe(true);
    expect(fenced).toBeGreaterThan(ROUNDS);

    // As many services as addresses: the last ones must take over what others have freed, once that has rested.
    const living = [...user.index.ofKind('MeshService')].length;
    const more = Array.from({ length: ADDRESSES - living }, (_, i) => service(1_000 + i, i));
    const { revision } = await user.store.write({ changes: more, onRefusal: 'abort' });
    await Promise.all(planes.map(({ index }) => index.reached(revision)));
    const last = believers.at(-1);
    if (!last) throw new Error('somebody leads');
    await until('everybody has an address', async () => {
      await stepTogether(last, believers.slice(0, -1));
      const addressed = [...user.index.ofKind('MeshService')].filter(({ status }) => isJsonObject(status?.['vip']));
      return addressed.length === ADDRESSES;
    });

    const audit = await readAudit(admin);
    expect(audit).toMatchObject({ duplicates: 0, restsViolated: 0, addressesChanged: 0 });
    expect(audit.handedOn).toBeGreaterThan(0);
    const { shared, moved } = namesOverTime(await readVersions(database.url, 'MeshService'));
    expect(shared).toEqual([]);
    expect(moved).toBeGreaterThan(0);
  });

  it('T003-33: only the higher epoch binds Dataplanes to VirtualNodes, and none leaves a node that still selects it', async () => {
    const pods = ['pod-0', 'pod-1', 'pod-2'];
    const node = (n: number): Change =>
      put(idOf('VirtualNode', `v${n}`), {
        podSelector: { matchLabels: { app: 'pod' } },
        listeners: [{ portMapping: { port: 80, protocol: 'http' } }],
      });
    await user.write([node(-1), ...pods.map((pod) => dataplane(pod, [{ port: 80 }], { app: 'pod' }))]);
    const ends: (() => void)[] = [];
    const bindingLoops = (index: TestPlane['index']): readonly ControlLoop[] => {
      const routes = new FollowedRoutes({ index, meshes: meshesOf(index), zone: CP.zone, run: fillAtOnce });
      const term = new AbortController();
      ends.push(() => (term.abort(), routes.close()));
      return [...createAppMeshLoops({ cp: CP, routes }, term)];
    };
    const believers: Believer[] = [];
    let fenced = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const plane = planes[round % 2];
      if (!plane) throw new Error('there are two');
      const older = [...believers];
      const leader = await lead(plane, `binder-${round}`, bindingLoops(plane.index));
      const before = older.map(written);
      // Each third node that goes is one that Dataplanes have; the others come and go beside it.
      const goes = round % 3 === 2 ? await boundNode() : undefined;
      const changes = [node(round), ...(goes === undefined ? [] : [remove(idOf('VirtualNode', goes))])];
      const { revision } = await user.store.write({ changes, onRefusal: 'abort' });
      await Promise.all(planes.map(({ index }) => index.reached(revision)));
      fenced += await stepTogether(leader, older);
      expect(older.map(written)).toEqual(before);
      believers.push(leader);
    }
    for (const end of ends) end();
    expect(fenced).toBeGreaterThan(ROUNDS);
    const rows = await readVersions(database.url, 'Dataplane');
    const { moved, early } = bindingsOverTime(rows, await readVersions(database.url, 'VirtualNode'));
    expect(early).toEqual([]);
    expect(moved).toBe(pods.length * Math.floor(ROUNDS / 3));

    async function boundNode(): Promise<string> {
      const last = (await readVersions(database.url, 'Dataplane')).at(-1);
      const found = last && nodeOf(last);
      if (found === undefined) throw new Error('no Dataplane has a node');
      return found;
    }
  });
});
