import { RouteInsight } from '@causeway/kinds';
import { identityKey, type Resource } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import type { Progress, RouteProgress } from './programmed';
import { routeInsightId } from './route-progress-reporter';
import type { AskedRoute, ProgressSource } from './route-status-reconciler';

/** Most names that are collected; a message shows fewer. */
const MOST_NAMES = 3;

/** What one zone reports, for look-ups. */
interface ZoneReport {
  /** By kind and incarnation: the revision up to which all its proxies have applied the global's routes. */
  readonly applied: ReadonlyMap<string, number>;
  /** By the key of a route. */
  readonly counted: ReadonlyMap<string, { readonly generation: number } & Pick<RouteProgress, 'proxies' | 'unable'>>;
}

/** What progress on the global is read from. */
export interface GlobalProgressOptions {
  readonly index: Pick<IndexReader, 'get' | 'versionOf'>;
  /** Names of zones: of ours those that have a session, of Kuma all; undefined while that is not known. */
  readonly zones: () => { readonly connected: readonly string[]; readonly kuma: readonly string[] } | undefined;
}

/**
 * Who has applied the global's routes, as the connected zones report it. Zones of Kuma report nothing and do not count: they are told
 * of no route. A zone's proxies are counted where the zone still counts them for this route.
 */
export class GlobalProgress implements ProgressSource {
  private readonly reports = new WeakMap<Resource, ZoneReport>();
  private seen = '';

  constructor(private readonly options: GlobalProgressOptions) {}

  of({ route }: AskedRoute): RouteProgress | undefined {
    const zones = this.options.zones();
    if (!zones) return undefined;
    const key = identityKey(route.id);
    const { incarnation, revision } = route.origin;
    const sums = { proxies: new Sum(), unable: new Sum(), zones: new Sum() };
    let isPartial = false;
    for (const zone of zones.connected) {
      const report = this.reportOf(zone);
      const counted = report?.counted.get(key);
      const isApplied = (report?.applied.get(`${route.id.kind} ${incarnation}`) ?? -1) >= revision;
      sums.zones.add({ acked: isApplied ? 1 : 0, total: 1, waitingFor: isApplied ? [] : [zone] });
      if (counted?.generation !== route.generation) {
        isPartial ||= isApplied;
        continue;
      }
      sums.proxies.add(counted.proxies, zone);
      sums.unable.add(counted.unable, zone);
    }
    return { proxies: sums.proxies.progress, unable: sums.unable.progress, zones: sums.zones.progress, isPartial };
  }

  hasMoved(): boolean {
    const { index, zones } = this.options;
    const seen = [index.versionOf(RouteInsight.name), ...(zones()?.connected ?? [])].join(' ');
    if (seen === this.seen) return false;
    this.seen = seen;
    return true;
  }

  untold(): readonly string[] | undefined {
    return this.options.zones()?.kuma;
  }

  private reportOf(zone: string): ZoneReport | undefined {
    const stored = this.options.index.get(routeInsightId(zone));
    if (!stored) return undefined;
    const known = this.reports.get(stored) ?? readReport(stored);
    this.reports.set(stored, known);
    return known;
  }
}

/** A zone is believed what it says of itself; sync has bounded it. What does not fit the schema says nothing. */
function readReport(stored: Resource): ZoneReport {
  if (!RouteInsight.is(stored)) return { applied: new Map(), counted: new Map() };
  const { applied = [], routes = [] } = stored.spec;
  return {
    applied: new Map(applied.map(({ kind, incarnation, revision }) => [`${kind} ${incarnation}`, revision])),
    counted: new Map(
      routes.map(({ route, generation, proxies, unable }) => [
        route,
        { generation, proxies: progressOf(proxies), unable: progressOf(unable) },
      ]),
    ),
  };
}

function progressOf({ acked = 0, total = 0, waitingFor = [] }: Partial<Progress>): Progress {
  return { acked, total, waitingFor };
}

/** Progress of several zones together; names get the zone before them. */
class Sum {
  private acked = 0;
  private total = 0;
  private readonly waitingFor: string[] = [];

  add({ acked, total, waitingFor }: Progress, zone?: string): void {
    this.acked += acked;
    this.total += total;
    for (const name of waitingFor)
      if (this.waitingFor.length < MOST_NAMES) this.waitingFor.push(zone === undefined ? name : `${zone}: ${name}`);
  }

  get progress(): Progress {
    return { acked: this.acked, total: this.total, waitingFor: this.waitingFor };
  }
}
