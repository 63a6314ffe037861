import { RouteInsight } from '@causeway/kinds';
import { identityKey, type Resource } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import type { Asked, Progress, ProgressSource, RefusalSource, ResourceProgress } from './progress';
import { routeInsightId } from './progress-reporter';

/** Most names that are collected; a message shows fewer. */
const MOST_NAMES = 3;

/** What one zone reports, for look-ups. */
interface ZoneReport {
  /** By kind and incarnation: the revision up to which all its proxies have applied the global's resources. */
  readonly applied: ReadonlyMap<string, number>;
  /** The kinds of which it reports anything. */
  readonly kinds: ReadonlySet<string>;
  /** By the key of a resource. */
  readonly counted: ReadonlyMap<string, { readonly generation: number } & Pick<ResourceProgress, 'proxies' | 'unable'>>;
}

/** What progress on the global is read from. */
export interface GlobalProgressOptions {
  readonly index: Pick<IndexReader, 'get' | 'versionOf'>;
  /** Names of zones: of ours those that have a session, of Kuma all; undefined while that is not known. */
  readonly zones: () => { readonly connected: readonly string[]; readonly kuma: readonly string[] } | undefined;
}

/**
 * Who has applied the global's routes and policies, as the connected zones report it. Zones of Kuma report nothing and do not count. A
 * zone's proxies are counted where the zone still counts them for this resource.
 */
export class GlobalProgress implements ProgressSource {
  /** As the zones count them: what no zone counts any more is told of too. */
  readonly refusals: RefusalSource;
  private readonly reports = new WeakMap<Resource, ZoneReport>();

  constructor(private readonly options: GlobalProgressOptions) {
    this.refusals = new ReportedRefusals(() => this.counted());
  }

  of({ resource }: Asked): ResourceProgress | undefined {
    const zones = this.options.zones();
    if (!zones) return undefined;
    const key = identityKey(resource.id);
    const { incarnation, revision } = resource.origin;
    const sums = { proxies: new Sum(), unable: new Sum(), zones: new Sum() };
    const silent: string[] = [];
    let isPartial = false;
    for (const zone of zones.connected) {
      const report = this.reportOf(zone);
      if (report?.kinds.has(resource.id.kind) !== true) silent.push(zone);
      const counted = report?.counted.get(key);
      const isApplied = (report?.applied.get(`${resource.id.kind} ${incarnation}`) ?? -1) >= revision;
      sums.zones.add({ acked: isApplied ? 1 : 0, total: 1, waitingFor: isApplied ? [] : [zone] });
      if (counted?.generation !== resource.generation) {
        isPartial ||= isApplied;
        continue;
      }
      sums.proxies.add(counted.proxies, zone);
      sums.unable.add(counted.unable, zone);
    }
    return {
      proxies: sums.proxies.progress,
      unable: sums.unable.progress,
      zones: sums.zones.progress,
      isPartial,
      silent,
    };
  }

  get version(): string {
    const { index, zones } = this.options;
    return [index.versionOf(RouteInsight.name), ...(zones()?.connected ?? [])].join(' ');
  }

  untold(): readonly string[] | undefined {
    return this.options.zones()?.kuma;
  }

  /** What zones count, by the key of the resource; linear in what they report. */
  private counted(): ReadonlyMap<string, string> {
    const said = new Map<string, string>();
    for (const zone of this.options.zones()?.connected ?? []) {
      for (const [key, { unable, proxies }] of this.reportOf(zone)?.counted ?? []) {
        const more = `${zone} ${unable.total} ${proxies.total > 0} ${unable.waitingFor.join(' ')}`;
        said.set(key, `${said.get(key) ?? ''} ${more}`);
      }
    }
    return said;
  }

  private reportOf(zone: string): ZoneReport | undefined {
    const stored = this.options.index.get(routeInsightId(zone));
    if (!stored) return undefined;
    const known = this.reports.get(stored) ?? readReport(stored);
    this.reports.set(stored, known);
    return known;
  }
}

class ReportedRefusals implements RefusalSource {
  private before: ReadonlyMap<string, string> = new Map();

  constructor(private readonly read: () => ReadonlyMap<string, string>) {}

  watch(): void {
    // Zones report what they know, whether it is asked for or not.
  }

  forget(): void {
    // What is gone here goes there too.
  }

  take(): readonly string[] {
    const now = this.read();
    const keys = new Set([...now.keys(), ...this.before.keys()]);
    const moved = [...keys].filter((key) => now.get(key) !== this.before.get(key));
    this.before = now;
    return moved;
  }
}

/** A zone is believed what it says of itself; sync has bounded it. What does not fit the schema says nothing. */
function readReport(stored: Resource): ZoneReport {
  if (!RouteInsight.is(stored)) return { applied: new Map(), kinds: new Set(), counted: new Map() };
  const { applied = [], routes = [] } = stored.spec;
  return {
    applied: new Map(applied.map(({ kind, incarnation, revision }) => [`${kind} ${incarnation}`, revision])),
    kinds: new Set(applied.map(({ kind }) => kind)),
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
