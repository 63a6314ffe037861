import { RouteInsight, type RouteInsightSpec } from '@causeway/kinds';
import { identityKey, type Resource, type ResourceKey, isResourceKey } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import type { AckCount, ApplyProgress, ProgressQuery, ProgressSource, UnsupportedChanges } from './apply-progress';
import { proxyModes } from './dataplane-modes';
import { routeInsightId } from './progress-reporter';
import {
  MAX_NAMES,
  mergeUnsupported,
  sumUnsupported,
  type UnsupportedCount,
  type UnsupportedProxies,
} from './unsupported-proxies';
import { fingerprintUnsupported } from './unsupported-watch';

/** The counts of one resource in the report of a zone. */
interface ReportedCounts extends Pick<ApplyProgress, 'proxies' | 'unsupported'> {
  readonly generation: number;
  readonly fingerprint: string;
}

/** The report of one zone, for look-ups. */
interface ZoneReport {
  /** By kind and incarnation: the revision up to which all its proxies have applied the global's resources. */
  readonly applied: ReadonlyMap<string, number>;
  /** The kinds about which it reports. */
  readonly kinds: ReadonlySet<string>;
  /** By the key of a resource. */
  readonly counted: ReadonlyMap<ResourceKey, ReportedCounts>;
}

export interface GlobalProgressOptions {
  readonly index: Pick<IndexReader, 'get' | 'getVersion'>;
  /** Returns the names of zones: ours that have a session, and all of Kuma; undefined while unknown. */
  readonly zones: () => { readonly connected: readonly string[]; readonly kuma: readonly string[] } | undefined;
}

/**
 * Counts the proxies that have applied the global's routes and policies, from the reports of the connected zones. Zones of Kuma report nothing and do
 * not count. A zone's proxies are counted if the zone still counts them for this resource.
 */
export class GlobalProgress implements ProgressSource {
  /** Covers reports that zones send unasked, and resources that no zone counts any more. */
  readonly unsupported: UnsupportedChanges;
  private readonly reports = new WeakMap<Resource, ZoneReport>();

  constructor(private readonly options: GlobalProgressOptions) {
    this.unsupported = new ReportedChanges(() => this.fingerprints());
  }

  of({ resource }: Pick<ProgressQuery, 'resource'>): ApplyProgress | undefined {
    const zones = this.options.zones();
    if (!zones) return undefined;
    const { incarnation, revision } = resource.origin;
    const kind = `${resource.id.kind} ${incarnation}`;
    const key = identityKey(resource.id);
    const reports = zones.connected.map((zone) => {
      const report = this.findReport(zone);
      const counted = report?.counted.get(key);
      return {
        zone,
        reports: report?.kinds.has(resource.id.kind) === true,
        isApplied: (report?.applied.get(kind) ?? -1) >= revision,
        counts: counted?.generation === resource.generation ? counted : undefined,
      };
    });
    const counted = reports.flatMap(({ zone, counts }) => (counts ? [{ zone, ...counts }] : []));
    const waiting = reports.filter(({ isApplied }) => !isApplied).map(({ zone }) => zone);
    return {
      proxies: sumAcked(counted.map(({ zone, proxies }) => inZone(zone, proxies))),
      unsupported: mergeUnsupported(counted.map(({ zone, unsupported }) => unsupportedIn(zone, unsupported))),
      zones: { acked: reports.length - waiting.length, total: reports.length, waiting: waiting.slice(0, MAX_NAMES) },
      isPartial: reports.some(({ isApplied, counts }) => isApplied && !counts),
      silentZones: reports.filter((report) => !report.reports).map(({ zone }) => zone),
    };
  }

  get version(): string {
    const { index, zones } = this.options;
    return [index.getVersion(RouteInsight.name), ...(zones()?.connected ?? [])].join(' ');
  }

  kumaZones(): readonly string[] | undefined {
    return this.options.zones()?.kuma;
  }

  /** Returns the fingerprints of all zones' reports, by the key of a resource. Linear in the reports. */
  private fingerprints(): ReadonlyMap<ResourceKey, string> {
    const all = new Map<ResourceKey, string>();
    for (const zone of this.options.zones()?.connected ?? [])
      for (const [key, { fingerprint }] of this.findReport(zone)?.counted ?? [])
        all.set(key, `${all.get(key) ?? ''} ${zone} ${fingerprint}`);
    return all;
  }

  private findReport(zone: string): ZoneReport | undefined {
    const stored = this.options.index.get(routeInsightId(zone));
    if (!stored) return undefined;
    const known = this.reports.get(stored) ?? readReport(stored);
    this.reports.set(stored, known);
    return known;
  }
}

class ReportedChanges implements UnsupportedChanges {
  private before: ReadonlyMap<ResourceKey, string> = new Map();

  constructor(private readonly read: () => ReadonlyMap<ResourceKey, string>) {}

  watch(): void {
    // Nothing to do: zones report all resources that they count.
  }

  forget(): void {
    // Nothing to do: a resource that is deleted here is deleted in the zones too.
  }

  takeChanged(): readonly ResourceKey[] {
    const now = this.read();
    const keys = new Set([...now.keys(), ...this.before.keys()]);
    const changed = [...keys].filter((key) => now.get(key) !== this.before.get(key));
    this.before = now;
    return changed;
  }
}

/** Decodes the report of a zone; sync has bounded it. A report that does not fit the schema counts as empty. */
function readReport(stored: Resource): ZoneReport {
  if (!RouteInsight.is(stored)) return { applied: new Map(), kinds: new Set(), counted: new Map() };
  const applied = listPresent(stored.spec.applied);
  const routes = listPresent(stored.spec.routes);
  return {
    applied: new Map(applied.map(({ kind, incarnation, revision }) => [`${kind} ${incarnation}`, revision])),
    kinds: new Set(applied.map(({ kind }) => kind)),
    counted: new Map(
      routes.flatMap((reported) =>
        isResourceKey(reported.route) ? [[reported.route, readCounts(reported)] as const] : [],
      ),
    ),
  };
}

/** The counts of one resource from a zone: every field may be missing or null. */
type Received = {
  readonly [Field in keyof ReportedRoute]?: ReportedRoute[Field] | null;
};
type ReportedRoute = NonNullable<RouteInsightSpec['routes']>[number];

/** Returns the items of a list from a peer: the list and its items may be missing or null. */
function listPresent<Item>(list: readonly (Item | null)[] | null | undefined): readonly Item[] {
  return (list ?? []).filter((item) => item !== null);
}

function readCounts(received: Received): ReportedCounts {
  const { proxies, generation } = received;
  const waiting = listPresent(proxies?.waitingFor).map((proxy) => ({ proxy }));
  const counts = {
    proxies: { acked: proxies?.acked ?? 0, total: proxies?.total ?? 0, waiting },
    unsupported: readUnsupported(received),
  };
  return { ...counts, generation: generation ?? 0, fingerprint: fingerprintUnsupported(counts) };
}

/** A zone of an older version reports names and a number: those proxies are of an unknown mode. */
function readUnsupported({ unable, unsupported }: Received): UnsupportedProxies {
  const total = unable?.total ?? 0;
  const typed = listPresent(unsupported).map(({ mode, tcpPassthrough = false, count }): UnsupportedCount => {
    const known = mode === 'noEgress' ? mode : proxyModes.find((one) => one === mode);
    return { mode: known ?? 'unknown', isTcpPassthrough: tcpPassthrough, count };
  });
  const missing = total - typed.reduce((sum, { count }) => sum + count, 0);
  const unknown: UnsupportedCount = { mode: 'unknown', isTcpPassthrough: false, count: missing };
  return {
    total,
    counts: sumUnsupported(missing > 0 ? [...typed, unknown] : typed),
    first: listPresent(unable?.waitingFor).map((text) => ({ type: 'reported', text })),
  };
}

function inZone(zone: string, { waiting, ...counts }: ApplyProgress['proxies']): ApplyProgress['proxies'] {
  return { ...counts, waiting: waiting.map((proxy) => ({ ...proxy, zone })) };
}

function unsupportedIn(zone: string, { first, ...counts }: UnsupportedProxies): UnsupportedProxies {
  return { ...counts, first: first.map((one) => ({ ...one, zone })) };
}

function sumAcked<Waiting>(parts: readonly AckCount<Waiting>[]): AckCount<Waiting> {
  return {
    acked: parts.reduce((sum, { acked }) => sum + acked, 0),
    total: parts.reduce((sum, { total }) => sum + total, 0),
    waiting: parts.flatMap(({ waiting }) => waiting).slice(0, MAX_NAMES),
  };
}
