import { Client } from 'pg';
import { coreKinds } from '@causeway/kinds';
import { silentLogger, systemClock } from '@causeway/runtime';
import { createZoneLifecycleLoop } from '@causeway/kds';
import { meshesOf } from '../support/meshes';
import type { TestGlobal } from '../support/sync-mesh';
import { ReplicaWorld, SPEC } from './replica-world';

/** Values that no control plane writes and a database can hold. */
const ODD = ['null', '1', '"x"', '[]', '[[1]]', '{}', '{"a": {"b": null}}', 'true'];

/** Notes as they are read at a start and at each session, with every key that has a meaning. */
const NOTES: readonly (readonly [string, string])[] = [
  ...['incarnation', 'confirmed', 'point/Mesh', 'point/MeshService', 'point/Nothing', 'other'].flatMap(
    (key): readonly (readonly [string, string])[] => [
      ['sync/east', key],
      ['sync/', key],
    ],
  ),
  ['zone-insight', 'east'],
  ['zone-insight', 'ghost'],
  ['zone-refusal', 'east'],
  ['zone-doubt', 'east'],
  ['global-incarnation', 'incarnation'],
  ['global-incarnation', 'reported/east'],
  ['global-incarnation', 'nonsense'],
];

/** Zones and copies whose specs and statuses are of the wrong shape. */
const ROWS: readonly (readonly [kind: string, zone: string, name: string, spec: string, status: string | null])[] = [
  ['Zone', '', 'east', '{"quarantine": 7, "lost": [], "enabled": "no"}', '{"lost": 3, "conditions": {}}'],
  ['Zone', '', 'ghost', '{"quarantine": {"resources": [null, 1, {"type": "Mesh"}]}}', '{"conditions": [null, 1]}'],
  ['Zone', '', 'NOT a name\n', '{}', null],
  ['Mesh', '', 'odd', '{"meshServices": 1}', '{"conditions": "x"}'],
  ['MeshService', 'east', 'ports', '{"ports": "x", "export": 5, "selector": []}', '{"vip": 4, "addresses": "x"}'],
  ['MeshService', 'east', 'null', '{"ports": null, "state": 9}', '{"conditions": [[]]}'],
  ['MeshService', 'ghost', '*', '{"ports": [null, 1, {"port": "x"}], "export": {"mode": "Subset", "zones": 1}}', null],
  ['HostnameGenerator', '', 'g', '{"template": 1, "selector": {"meshService": 3}}', null],
  ['HostnameGenerator', 'east', 'h', '{"template": "{{{{{{"}', null],
  ['Dataplane', 'east', 'd', '{"networking": []}', null],
  ['Invented', 'east', 'x', '{}', null],
];

const STORES = ['global', 'east'];

async function fill(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const [i, [kind, zone, name, spec, status]] of ROWS.entries()) {
      const mesh = kind.startsWith('Mesh') && kind !== 'Mesh' ? 'default' : kind === 'Dataplane' ? 'default' : '';
      const namespace = ['MeshService', 'Dataplane'].includes(kind) ? 'default' : '';
      await client.query(
        `WITH head AS (UPDATE store_head SET revision = revision + 1 RETURNING revision)
         INSERT INTO resources (kind, mesh, zone, namespace, name, uid, labels, spec, status, generation, creation_order,
           created_at, modified_at, revision, origin_incarnation, origin_revision, origin_committed_at, freed)
         SELECT $1, $2, $3, $4, $5, $6, '{}', $7::jsonb, $8::jsonb, 1, 0, 0, 0, revision, 'far', 1, 0, '[]' FROM head`,
        [kind, mesh, zone, namespace, name, `uid-${i}`, spec, status],
      );
    }
    await client.query(
      `INSERT INTO zone_sessions VALUES ('ghost', $1, '', 9007199254740991, E'a\\nb', 3, 9007199254740000, -1),
        (E'a\\nb', '', '', 0, '', 0, 0, 0)`,
      ['x'.repeat(100_000)],
    );
  } finally {
    await client.end();
  }
}

async function noteAll(url: string, value: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const [area, key] of NOTES) {
      await client.query(
        `INSERT INTO notes VALUES ($1, $2, $3::jsonb) ON CONFLICT (area, key) DO UPDATE SET value = excluded.value`,
        [area, key, value],
      );
    }
  } finally {
    await client.end();
  }
}

describe('control planes that start on stores which hold what nobody should have written', () => {
  /** Databases with the rows, of which each test has copies. */
  const filled = new ReplicaWorld();
  let world: ReplicaWorld;
  beforeAll(async () => {
    for (const name of STORES) {
      await filled.end(name === 'global' ? await filled.global() : await filled.zone(name));
      await fill(filled.homes.url(name));
    }
  });
  afterAll(() => filled.close());
  beforeEach(() => void (world = new ReplicaWorld()));
  afterEach(() => world.close());

  it.each(ODD)('a global and its zone come up, join and pass on services; notes are %s', async (value) => {
    for (const name of STORES) {
      await world.homes.copyOf(filled.homes, name);
      await noteAll(world.homes.url(name), value);
    }
    const global = await world.global();
    await keeperRound(global);
    const east = await world.zone('east');
    const west = await world.zone('west');
    await global.put('Mesh', 'default', {});
    await Promise.all([east.join(global), west.join(global)]);
    await west.put('MeshService', 'web', SPEC);
    await global.holds(west.id('MeshService', 'web'));
    await east.holds(west.id('MeshService', 'web'));
    for (const zone of global.index.ofKind('Zone')) await global.sync?.findInsight(zone);
    await keeperRound(global);
  });
});

/** One round of the leader's work on zones; what fails in it is logged, and must not. */
async function keeperRound({ state, index }: TestGlobal): Promise<void> {
  const holder = 'leader';
  const epoch = (await state.lease.takeOver((await state.lease.readEpoch()).epoch, holder, 0)) ?? 0;
  const term = { epoch, holder, signal: new AbortController().signal };
  const { store, sessions } = state;
  const failures: unknown[] = [];
  const logger = { ...silentLogger, warn: (message: string, fields: unknown) => void failures.push([message, fields]) };
  const keeper = createZoneLifecycleLoop({
    store,
    sessions,
    index,
    registry: coreKinds,
    clock: systemClock,
    logger,
    term,
    meshes: meshesOf(index),
    lost: { policy: 'keep', after: 600_000 },
  });
  await keeper.round();
  expect(failures).toEqual([]);
}
