import { Prng } from '../engine/prng';
import { ZONE_NAMES, type Mishap, type Schedule, type Step, type UserAction } from './steps';

const NAMES = ['a', 'b', 'c', 'd'];
const TEAMS = ['red', 'blue'];
const TEMPLATES = ['{{ name }}.mesh', '{{ label "team" }}.mesh', '{{ .DisplayName }}.{{ .Zone }}.mesh'];
const SELECTS = ['meshService', 'meshExternalService', 'meshMultiZoneService'] as const;
const POLICIES = ['keep', 'depreferred', 'withdraw'] as const;
const KINDS_OF_ZONE = ['MeshService', 'MeshService', 'Dataplane', 'MeshExternalService', 'HostnameGenerator'];
const KINDS_OF_GLOBAL = ['MeshExternalService', 'MeshMultiZoneService', 'HostnameGenerator'];

/** The kinds of fault that may happen; fewer for a part of the schedules. */
export interface DrawLimits {
  readonly mishaps: readonly Mishap['type'][];
  readonly replicas: number;
}

const EVERYTHING: DrawLimits = {
  mishaps: ['kill', 'stop', 'pause', 'away', 'lag', 'slow', 'skew', 'depose', 'break', 'cut', 'backup'],
  replicas: 2,
};

/** The schedule of a seed. */
export function drawSchedule(seed: number, limits: DrawLimits = EVERYTHING): Schedule {
  const random = new Prng(`schedule ${seed}`);
  const zones = ZONE_NAMES.slice(
    0,
    random.weighted([
      [7, 2],
      [2, 3],
      [1, 4],
    ]),
  ).map((name) => ({
    name,
    replicas: random.chance(0.5) ? limits.replicas : 1,
  }));
  const shape = { seed, globals: random.chance(0.5) ? limits.replicas : 1, zones };
  const prefix = random.weighted([
    [4, 24],
    [1, 29],
    [1, 30],
  ]);
  const staysAway = random.chance(0.15) ? random.pick(zones).name : undefined;
  return { ...shape, prefix, restartsAtEnd: random.chance(0.25), staysAway, steps: drawSteps(random, shape, limits) };
}

type Shape = Pick<Schedule, 'globals' | 'zones'>;

function drawSteps(random: Prng, shape: Shape, { mishaps }: DrawLimits): Step[] {
  const count = random.between(8, 30);
  const trouble = mishaps.length === 0 ? 0 : random.pick([0, 0.15, 0.3, 0.45]);
  // Some schedules write while the zones join for the first time.
  let at = random.chance(0.3) ? 0 : 1_500;
  const steps: Step[] = [];
  while (steps.length < count) {
    const happens = random.chance(trouble) ? drawMishap(random, shape, mishaps) : drawWrite(random, shape);
    const scene = random.chance(0.25) ? drawScene(random, shape, mishaps) : [happens];
    at += drawPause(random);
    for (const each of scene) {
      if (typeof each === 'number') {
        at += each;
        continue;
      }
      steps.push({ at, ...each });
      at += random.weighted([
        [3, random.between(0, 10)],
        [2, random.between(10, 300)],
      ]);
    }
  }
  return steps;
}

function drawPause(random: Prng): number {
  return random.weighted([
    [5, random.between(0, 20)],
    [5, random.between(20, 400)],
    [2, random.between(400, 4_000)],
    [0.4, random.between(4_000, 16_000)],
  ]);
}

type Happening = UserAction | Mishap;

/** Things that happen one after the other, and ms in which nothing does. */
type Scene = (Happening | number)[];

/** A few things that belong together: where faults hide, chance alone comes too seldom. */
function drawScene(random: Prng, shape: Shape, mishaps: readonly Mishap['type'][]): Scene {
  const { name: zone, replicas } = random.pick(shape.zones);
  const possible = (...all: Mishap[]): Mishap[] => all.filter(({ type }) => mishaps.includes(type));
  const writes = (many: number): Happening[] => Array.from({ length: many }, () => drawService(random, zone));
  const service = drawService(random, zone);
  const removal = { type: 'remove', on: zone, kind: 'MeshService', name: service.name } as const;
  const replica = random.between(0, replicas - 1);
  const killed = { type: 'kill', plane: zone, replica, for: random.between(1, 800), how: 'reset' } as const;
  const [at, how] = [random.between(0, shape.globals - 1), random.pick(['reset', 'half-open'] as const)];
  const slowed = { type: 'slow', plane: 'global', replica: at, for: 3_000, ms: random.between(50, 2_500) } as const;
  const lead = random.pick<Mishap>([
    { type: 'depose', plane: 'global' },
    { type: 'kill', plane: 'global', replica: at, for: random.between(1, 800), how: 'reset' },
    { type: 'pause', plane: 'global', replica: at, for: random.between(500, 9_000) },
  ]);
  const cut = { type: 'cut', zone, for: random.between(5_000, 25_000), how } as const;
  const removed = { type: 'remove', on: 'global', kind: 'Zone', name: zone } as const;
  const scenes: Scene[] = [
    // Deleted and made again, and the process that knew is gone.
    [service, ...writes(1), removal, ...possible(killed), service],
    [removal, ...writes(2), ...possible(killed), ...writes(1)],
    // Another leads while the former still works.
    [...writes(1), ...possible({ type: 'depose', plane: zone }), ...writes(3)],
    // Messages of a former session are still on their way.
    [...possible(slowed), ...writes(2), ...possible({ type: 'break', zone, how }), removal, ...writes(2)],
    // A store is set back, and its later changes are gone.
    setBack(random, [...shape.zones.map(({ name }) => name), 'global'], writes, possible),
    // Withdrawn and given back.
    [service, { type: 'zone', zone, enabled: false }, ...writes(1), { type: 'zone', zone, enabled: true }],
  ];
  return random.weighted<Scene>([
    // Away for long enough to be lost, and who leads the global may change meanwhile.
    [1, [drawZone(random, zone), service, ...possible(cut), ...writes(1), random.between(0, 9_000), ...possible(lead)]],
    // Its Zone is deleted while it is there; it makes itself known again at once.
    [1, [service, removed, ...possible(lead), ...writes(1)]],
    // Remains of a deleted zone go while it is away, unless its Zone is made again before.
    [1, [service, ...possible(cut), removed, random.between(0, 6_000), ...possible(lead), drawZone(random, zone)]],
    [0.5, [...writes(1), { type: 'mesh', exists: false }, ...writes(1), ...drawMesh(random)]],
    ...scenes.map((each): [number, Scene] => [1, each]),
  ]);
}

function setBack(
  random: Prng,
  planes: readonly string[],
  writes: (many: number) => Happening[],
  possible: (...all: Mishap[]) => Mishap[],
): Scene {
  const plane = random.pick(planes);
  if (possible({ type: 'backup', plane }).length === 0) return writes(1);
  return [{ type: 'backup', plane }, ...writes(2), { type: 'restore', plane }, ...writes(1)];
}

function drawService(random: Prng, zone: string): Extract<UserAction, { readonly type: 'service' }> {
  const [name, team] = [random.pick(NAMES), random.pick(TEAMS)];
  return { type: 'service', on: zone, name, port: random.between(80, 82), team, hidden: random.chance(0.06) };
}

function drawZone(random: Prng, zone: string): UserAction {
  const lost = { policy: random.pick(POLICIES), after: random.pick(['1s', '4s', '10s']) };
  const ruled = random.chance(0.6) ? { lost } : {};
  return { type: 'zone', zone, enabled: random.chance(0.8), ...ruled };
}

/** The mesh is made again, or not. */
function drawMesh(random: Prng): Scene {
  return random.chance(0.8) ? [random.between(0, 3_000), { type: 'mesh', exists: true }] : [];
}

function drawWrite(random: Prng, { zones }: Shape): UserAction {
  const zone = random.pick(zones).name;
  const name = random.pick(NAMES);
  const port = random.between(80, 82);
  const team = random.pick(TEAMS);
  const on = random.chance(0.5) ? 'global' : zone;
  const dataplane = { type: 'dataplane', on: zone, name: `dp-${name}`, service: random.pick(NAMES), port } as const;
  const generator = {
    type: 'generator',
    on,
    name: `${on}-${random.pick(NAMES)}`,
    template: random.pick(TEMPLATES),
    selects: random.weighted([
      [3, SELECTS[0]],
      [1, SELECTS[1]],
      [1, SELECTS[2]],
    ]),
  } as const;
  return random.weighted<UserAction>([
    [8, drawService(random, zone)],
    [4, { ...dataplane, ready: random.chance(0.8) }],
    [1, { type: 'external', on, name, port }],
    [1, { type: 'multizone', on: 'global', name, team }],
    [2, generator],
    [6, drawRemoval(random, zone, on)],
    [1, drawZone(random, zone)],
    [0.4, { type: 'remove', on: 'global', kind: 'Zone', name: zone }],
  ]);
}

function drawRemoval(random: Prng, zone: string, on: string): UserAction {
  const kind = random.pick(on === 'global' ? KINDS_OF_GLOBAL : KINDS_OF_ZONE);
  const name = random.pick(NAMES);
  const prefix = kind === 'Dataplane' ? 'dp-' : kind === 'HostnameGenerator' ? `${on}-` : '';
  return { type: 'remove', on: on === 'global' ? on : zone, kind, name: prefix + name };
}

function drawMishap(random: Prng, { zones, globals }: Shape, mishaps: readonly Mishap['type'][]): Mishap {
  const all = [...zones, { name: 'global', replicas: globals }];
  const zone = random.pick(zones).name;
  const { name: plane, replicas } = random.pick(all);
  const replica = random.between(0, replicas - 1);
  const how = random.pick(['reset', 'half-open'] as const);
  const duration = random.weighted([
    [4, random.between(1, 500)],
    [3, random.between(500, 9_000)],
    [1, 15_000],
  ]);
  const at = { plane, replica, for: duration };
  const type = random.pick(mishaps);
  switch (type) {
    case 'kill':
      return { type, ...at, how };
    case 'stop':
    case 'pause':
    case 'away':
      return { type, ...at };
    case 'lag':
    case 'slow':
      return { type, ...at, ms: random.between(10, 3_000) };
    case 'skew':
      return { type, plane, replica, ms: random.between(-60_000, 60_000) };
    case 'depose':
    case 'backup':
    case 'restore':
      return { type, plane };
    case 'break':
      return { type, zone, how };
    case 'cut':
      return { type, zone, how, for: duration };
  }
}
