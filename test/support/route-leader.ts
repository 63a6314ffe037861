import { createKumaRouteLoop } from '@causeway/kuma';
import { createRouteStatusLoop } from '@causeway/controllers';
import { LoopRunner, type ControlLoop } from '@causeway/loops';
import type { ProgressSource } from '@causeway/controllers/testing';
import { FollowedRoutes } from '@causeway/meshes';
import { isJsonArray, isJsonObject, ownZone, type Identity } from '@causeway/resources';
import { silentLogger, systemClock, type Clock } from '@causeway/runtime';
import { type ResourceStore } from '@causeway/store';
import { fillAtOnce } from '@causeway/store/testing';
import { meshesOf } from './meshes';
import type { TestPlane } from './test-plane';

/** Options of a leader of tests, besides its plane. */
export interface RouteLeaderOptions {
  readonly clock?: Clock;
  /** The store that it writes to; that of the plane unless given. */
  readonly store?: ResourceStore;
  readonly progress?: ProgressSource;
  /** Time until the leader reports that it waits, and interval of the next reports, ms; a second unless given. */
  readonly patience?: { readonly first: number; readonly then: number };
  /** The zones of Kuma, for which routes are translated; without it none is. */
  readonly kuma?: () => readonly string[];
  /** Leads in the epoch that holds, beside whoever has begun it. */
  readonly isBeside?: boolean;
  /** Loops besides the one of routes. */
  readonly loops?: (routes: FollowedRoutes, ended: AbortController) => readonly ControlLoop[];
}

/** A leader of one plane that writes the status of routes, moved step by step; `end` it. */
export class RouteLeader {
  private running: Promise<void> = Promise.resolve();

  private constructor(
    readonly runner: LoopRunner,
    readonly routes: FollowedRoutes,
    private readonly term: AbortController,
  ) {}

  /** Takes the epoch over from whoever has it, unless it leads beside. */
  static async lead(plane: TestPlane, holder: string, options: RouteLeaderOptions = {}): Promise<RouteLeader> {
    const { clock = systemClock, store = plane.store, progress, loops } = options;
    const { patience = { first: 1_000, then: 1_000 } } = options;
    const ended = new AbortController();
    const term = { ...(await epochOf(plane, holder, options)), signal: ended.signal };
    const { index, cp } = plane;
    const meshes = meshesOf(index);
    const routes = followed(plane, meshes);
    const kuma =
      options.kuma && createKumaRouteLoop({ meshes, routes, zones: options.kuma, exportDefault: 'All' }, ended);
    const known = { ...(progress && { progress }), ...(kuma && { kuma: kuma.translations }) };
    const status = createRouteStatusLoop({ cp, meshes, routes, patience, ...known }, ended);
    const all = [...(loops?.(routes, ended) ?? []), ...(kuma ? [kuma.loop] : []), status];
    return new RouteLeader(
      new LoopRunner(all, { store, index, clock, term, logger: silentLogger, random: () => 0.5 }),
      routes,
      ended,
    );
  }

  /** Steps until nothing is left that could be done now. */
  async settle(): Promise<void> {
    for (let steps = 0; await this.runner.step(); steps++) if (steps > 10_000) throw new Error('it never settles');
  }

  /** Returns how many rows the loop of routes has written. */
  get written(): number {
    return this.runner.stats.loops['routes']?.written ?? 0;
  }

  /** Leads until `end`. */
  start(): this {
    this.running = this.runner.run();
    return this;
  }

  async stopped(): Promise<void> {
    this.end();
    await this.running;
  }

  end(): void {
    this.term.abort();
    this.runner.close();
    this.routes.close();
  }
}

async function epochOf(
  { state: { lease } }: TestPlane,
  holder: string,
  { isBeside = false }: RouteLeaderOptions,
): Promise<{ readonly epoch: number; readonly holder: string }> {
  const before = await lease.readEpoch();
  if (isBeside) return before;
  await lease.release(before.epoch, before.holder);
  return { epoch: (await lease.takeOver(before.epoch, holder, 600_000)) ?? 0, holder };
}

/** The routes of a plane, derived at once. */
export function followed({ index, cp }: TestPlane, meshes = meshesOf(index)): FollowedRoutes {
  return new FollowedRoutes({ index, meshes, zone: ownZone(cp), run: fillAtOnce });
}

/** The entries of a route's status in a few words: `name:port Accepted=True/Accepted …`. */
export function parentsOf(plane: TestPlane, id: Identity): readonly string[] {
  const parents = plane.get(id)?.status?.['parents'];
  return (isJsonArray(parents) ? parents.filter(isJsonObject) : []).map((entry) => {
    const { namespace, name, port } = isJsonObject(entry['parentRef']) ? entry['parentRef'] : {};
    const conditions = isJsonArray(entry['conditions']) ? entry['conditions'].filter(isJsonObject) : [];
    const said = conditions.map(({ type, status, reason }) => `${text(type)}=${text(status)}/${text(reason)}`);
    return [`${text(namespace)}/${text(name)}${port === undefined ? '' : `:${text(port)}`}`, ...said].join(' ');
  });
}

const text = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '-');
