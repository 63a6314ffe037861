/** Envoy's groups of counters. */
export type StatGroup =
  'listener_manager' | 'listener' | 'tcp' | 'cluster' | 'rbac' | 'connection_limit' | 'local_rate_limit';

/**
 * Envoy's format of a group: the raw name of its counters, and the Prometheus label for the name; empty if it has none.
 */
export const GROUPS: Readonly<Record<StatGroup, { readonly raw: (name: string) => string; readonly label: string }>> = {
  listener_manager: { raw: () => 'listener_manager', label: '' },
  listener: { raw: (name) => `listener.${name}`, label: 'envoy_listener_address' },
  tcp: { raw: (name) => `tcp.${name}`, label: 'envoy_tcp_prefix' },
  cluster: { raw: (name) => `cluster.${name}`, label: 'envoy_cluster_name' },
  rbac: { raw: (name) => `${name}.rbac`, label: '' },
  connection_limit: { raw: (name) => `connection_limit.${name}`, label: 'envoy_connection_limit_prefix' },
  local_rate_limit: { raw: (name) => `local_rate_limit.${name}`, label: 'envoy_local_network_ratelimit_prefix' },
};

type StatValues = Readonly<Record<string, number>>;
/** All counters and gauges of a dataplane, by group and name. */
export type StatSnapshot = readonly (readonly [group: StatGroup, name: string, values: StatValues])[];

/** Counters and gauges of one listener, cluster or filter, by Envoy's names. */
export class Stats {
  readonly values: Record<string, number> = {};

  add(stat: string, by = 1): void {
    this.values[stat] = (this.values[stat] ?? 0) + by;
  }

  set(stat: string, value: number): void {
    this.values[stat] = value;
  }
}

/** Counters and gauges of a dataplane, named as in Envoy. */
export class PlaneStats {
  private readonly groups = new Map<StatGroup, Map<string, Stats>>();

  getStats(group: StatGroup, given: string): Stats {
    const name = sanitizeName(given);
    let names = this.groups.get(group);
    if (!names) this.groups.set(group, (names = new Map<string, Stats>()));
    let stats = names.get(name);
    if (!stats) names.set(name, (stats = new Stats()));
    return stats;
  }

  forget(group: StatGroup, name: string): void {
    this.groups.get(group)?.delete(sanitizeName(name));
  }

  snapshot(): StatSnapshot {
    return [...this.groups].flatMap(([group, names]) =>
      [...names].map(([name, { values }]) => [group, name, { ...values }] as const),
    );
  }
}

/** Replaces colons as Envoy does in counter names. */
function sanitizeName(name: string): string {
  return name.replace(/:\/\/|:/g, '_');
}

/** Returns the connections of each listener, by its `address:port`: open ones, and all that it accepted. */
export function countConnections(
  snapshot: StatSnapshot,
): Pick<ReadonlyMap<string, { readonly active: number; readonly total: number }>, 'get'> {
  const byName = new Map<string, { readonly active: number; readonly total: number }>();
  for (const [group, name, { downstream_cx_active: active = 0, downstream_cx_total: total = 0 }] of snapshot)
    if (group === 'listener') byName.set(name, { active, total });
  return { get: (at) => byName.get(sanitizeName(at)) };
}

/** Adds up the counters of several processes. */
export function sumSnapshots(snapshots: readonly StatSnapshot[]): StatSnapshot {
  const sum = new PlaneStats();
  for (const [group, name, values] of snapshots.flat())
    for (const [stat, value] of Object.entries(values)) sum.getStats(group, name).add(stat, value);
  return sum.snapshot();
}

/** Gauges; all others are counters. */
const GAUGE = /(_active|^membership_[a-z]+)$/;

/** Formats values for Prometheus, with the names of Envoy's `/stats/prometheus`. */
export function formatPrometheus(snapshot: StatSnapshot): string {
  const metrics = new Map<string, string[]>();
  for (const [group, name, values] of snapshot)
    for (const [stat, value] of Object.entries(values)) {
      const metric = formatMetric(group, name, stat);
      const lines = metrics.get(metric) ?? [`# TYPE ${metric} ${GAUGE.test(stat) ? 'gauge' : 'counter'}`];
      const { label } = GROUPS[group];
      lines.push(`${metric}${label === '' ? '' : `{${label}="${escapeLabel(name)}"}`} ${value}`);
      metrics.set(metric, lines);
    }
  return [...metrics.values()].flatMap((lines) => [...lines, '']).join('\n');
}

/** Envoy has no label for the prefix of an access filter: it is part of the metric name. */
function formatMetric(group: StatGroup, name: string, stat: string): string {
  const front = group === 'rbac' ? `${name}_rbac` : group;
  return `envoy_${front}_${stat}`.replace(/[^A-Za-z0-9_]/g, '_');
}

function escapeLabel(text: string): string {
  return text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}
