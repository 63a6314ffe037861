import { queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { onAbort } from '@causeway/runtime';
import { Prng } from '../../test/simulation/engine/prng';
import { SimReplica } from '../../test/simulation/mesh/plane';
import type { UserAction } from '../../test/simulation/mesh/steps';
import { PLANES, SimulatedWorld } from './simulated-world';
import { slopePerHour } from './trend';

/** A soak on simulated time. */
export interface Simulated {
  readonly hours: number;
  /** Changes by users in a simulated hour. */
  readonly changes: number;
  readonly seed: number;
  /** Called with each sample. */
  readonly took?: (sample: SimulatedSample) => void;
}

/** State at a simulated time, after a garbage collection. */
interface SimulatedSample {
  readonly hour: number;
  /** Of all: six replicas, three stores in memory, and the simulation. */
  readonly heap_mb: number;
  readonly living: number;
  readonly tombstones: number;
  readonly notes: number;
  /** Objects in the heap: a `SimReplica` that was killed stays until its last timer, an hour at most; `Map` holds indexes and books, `AbortSignal` and `Promise` what waits. */
  readonly objects: Readonly<Record<string, number>>;
  /** Events that are planned: timers of all replicas, and messages under way. */
  readonly planned: number;
  /** Real seconds that it took so far. */
  readonly seconds: number;
}

const HOUR = 3_600_000;
const MINUTE = 60_000;
/** Between two mishaps, at most, ms. */
const MISHAP = 20 * MINUTE;
const ZONES = ['east', 'west'] as const;
/** Time after which graces, holds and retries are over, ms. */
const QUIET = 90 * MINUTE;

/**
 * Joins signals without `AbortSignal.any`, whose result Node keeps until it aborts. In a replica that was killed within this process it never aborts;
 * in a process of its own it goes with the process.
 */
function joinSignals(signals: Iterable<AbortSignal>): AbortSignal {
  const either = new AbortController();
  for (const signal of signals) onAbort(signal, () => either.abort(signal.reason));
  return either.signal;
}

/** Runs it. `differences` is what control planes lack at the end, `violations` what broke I1, I2 or I3 on the way. */
export async function soakSimulated(options: Simulated): Promise<Readonly<Record<string, unknown>>> {
  AbortSignal.any = joinSignals;
  const world = new SimulatedWorld(new Prng(options.seed));
  const users = new SimulatedUsers(world.random.fork('users'));
  const samples: SimulatedSample[] = [];
  const began = performance.now();
  const end = options.hours * HOUR;
  plan(world, users, options, end);
  for (let hour = 1; hour <= options.hours && world.violations.length === 0; hour++) {
    await world.pass(hour * HOUR);
    const sample = take(world, hour, Math.round((performance.now() - began) / 1_000));
    samples.push(sample);
    options.took?.(sample);
  }
  await world.pass(end + QUIET);
  const { took: _, ...asked } = options;
  return {
    ...asked,
    seconds: Math.round((performance.now() - began) / 1_000),
    steps: world.timeline.steps,
    actions: users.actions,
    commits: world.planes.reduce((sum, { disk }) => sum + disk.commits, 0),
    messages: world.network.delivered,
    ...growth(samples),
    violations: world.violations,
    differences: world.differences().slice(0, 20),
  };
}

/** Users write at random times, an hour's worth after the other; so do mishaps come. */
function plan(world: SimulatedWorld, users: SimulatedUsers, { changes }: Simulated, end: number): void {
  const { timeline, random } = world;
  const users$ = random.fork('times of users');
  const mishaps = random.fork('mishaps');
  const nextUser = (): void => {
    if (timeline.now >= end) return;
    world.act(users.next());
    timeline.after(users$.between(1, (2 * HOUR) / changes), nextUser);
  };
  const nextMishap = (): void => {
    if (timeline.now >= end) return;
    strike(world, mishaps);
    timeline.after(mishaps.between(MINUTE, MISHAP), nextMishap);
  };
  timeline.after(30_000, nextUser);
  timeline.after(5 * MINUTE, nextMishap);
}

/** The first replicas live on, but for one kill in about ten; the second ones are killed again and again. */
function strike(world: SimulatedWorld, chance: Prng): void {
  const name = chance.pick(PLANES);
  const n = chance.chance(0.1) ? 0 : 1;
  switch (chance.pick(['kill', 'kill', 'pause', 'cut', 'database'])) {
    case 'kill':
      return world.kill(name, n, chance.between(1_000, 30_000));
    case 'pause':
      return world.pause(name, chance.between(0, 1), chance.between(500, 20_000));
    case 'cut':
      return world.cut(chance.pick(ZONES), chance.between(1_000, chance.chance(0.1) ? 20 * MINUTE : 60_000));
    default:
      return world.withoutDatabase(name, chance.between(0, 1), chance.between(500, 60_000));
  }
}

/** Writes as users do: resources of a fixed number of names come and go; some services have names that are never used again. */
class SimulatedUsers {
  actions = 0;
  private readonly living = new Map<string, Extract<UserAction, { type: 'remove' }>>();
  private readonly once: Extract<UserAction, { type: 'remove' }>[] = [];
  private turn = 0;

  constructor(private readonly chance: Prng) {}

  next(): UserAction {
    this.actions += 1;
    this.turn += 1;
    const on = this.chance.pick(ZONES);
    if (this.chance.chance(0.05)) return this.never(on);
    const action = this.draw(on);
    if (!('on' in action) || !('name' in action)) return action;
    const kind = KIND_OF[action.type];
    if (kind === undefined) return action;
    const key = `${action.on} ${kind} ${action.name}`;
    const stands = this.living.get(key);
    if (stands && this.chance.chance(0.4)) {
      this.living.delete(key);
      return stands;
    }
    this.living.set(key, { type: 'remove', on: action.on, kind, name: action.name });
    return action;
  }

  /** A service whose name is never used again; the oldest of them goes. */
  private never(on: string): UserAction {
    const oldest = this.once.length > 100 ? this.once.shift() : undefined;
    if (oldest) return oldest;
    const name = `once-${this.turn}`;
    this.once.push({ type: 'remove', on, kind: 'MeshService', name });
    return { type: 'service', on, name, port: 80, team: 'once', hidden: false };
  }

  private draw(on: string): UserAction {
    const { chance } = this;
    const port = 1_000 + (this.turn % 50_000);
    const service = (): UserAction => {
      const name = `service-${chance.between(0, 149)}`;
      return { type: 'service', on, name, port, team: `t${chance.between(0, 4)}`, hidden: chance.chance(0.05) };
    };
    const dataplane = (): UserAction => {
      const n = chance.between(0, 89);
      const ready = chance.chance(0.8);
      return { type: 'dataplane', on, name: `dp-${n}`, service: `generated-${n % 30}`, port, ready };
    };
    const external = (): UserAction => {
      const place = chance.pick(['global', on]);
      return { type: 'external', on: place, name: `external-${chance.between(0, 19)}`, port };
    };
    const multizone = (): UserAction => {
      return { type: 'multizone', on: 'global', name: `multi-${chance.between(0, 14)}`, team: `t${this.turn % 5}` };
    };
    const generator = (): UserAction => {
      const [name, selects] = [`rule-${chance.between(0, 5)}`, chance.pick(SELECTED)];
      return { type: 'generator', on: 'global', name, template: `{{ name }}.${name}.mesh`, selects };
    };
    return chance.weighted([
      [40, service],
      [40, dataplane],
      [8, external],
      [8, multizone],
      [2, generator],
    ])();
  }
}

const SELECTED = ['meshService', 'meshExternalService', 'meshMultiZoneService'] as const;
const KIND_OF: Readonly<Record<string, string>> = {
  service: 'MeshService',
  dataplane: 'Dataplane',
  external: 'MeshExternalService',
  multizone: 'MeshMultiZoneService',
  generator: 'HostnameGenerator',
};

const COUNTED = { SimReplica, Map, Set, AbortSignal, Promise };

function take(world: SimulatedWorld, hour: number, seconds: number): SimulatedSample {
  setFlagsFromString('--expose-gc');
  for (let n = 0; n < 2; n++) runInNewContext('gc()');
  const rows = world.planes.flatMap(({ disk }) => [...disk.rows.values()]);
  const tombstones = rows.filter(({ deletedAt }) => deletedAt !== undefined).length;
  const counts = Object.entries(COUNTED).map(
    ([name, made]) => [name, queryObjects(made, { format: 'count' })] as const,
  );
  return {
    hour,
    seconds,
    heap_mb: Math.round(process.memoryUsage().heapUsed / 10_000) / 100,
    living: rows.length - tombstones,
    tombstones,
    notes: world.planes.reduce((sum, { disk }) => sum + disk.metadata.size, 0),
    objects: Object.fromEntries(counts),
    planned: world.timeline.planned,
  };
}

/** Of each figure: after 6 hours, after 24, at the end, and how much it grows in an hour after the 25th, when tombstones are removed. */
function growth(samples: readonly SimulatedSample[]): Readonly<Record<string, unknown>> {
  const last = samples.at(-1);
  if (!last) return {};
  const flat = ({ heap_mb, living, tombstones, notes, planned, objects }: SimulatedSample): Record<string, number> => ({
    heap_mb,
    living,
    tombstones,
    notes,
    planned,
    ...objects,
  });
  const at = (hour: number): Record<string, number> => flat(samples[hour - 1] ?? last);
  const steady = samples.filter(({ hour }) => hour > Math.min(25, last.hour / 2));
  return Object.fromEntries(
    Object.keys(flat(last)).map((figure) => {
      const points = steady.map((sample) => ({ at: sample.hour * HOUR, value: flat(sample)[figure] ?? 0 }));
      const per_hour = Math.round(slopePerHour(points) * 100) / 100;
      return [figure, { hour_6: at(6)[figure], hour_24: at(24)[figure], end: at(last.hour)[figure], per_hour }];
    }),
  );
}
