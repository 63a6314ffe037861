import { GROUPS, type StatSnapshot } from '../src/builtin/stats';

/** The values by Envoy's full names, such as `cluster.redis.upstream_cx_total`. */
export function rawStats(snapshot: StatSnapshot): ReadonlyMap<string, number> {
  const entries = snapshot.flatMap(([group, name, values]) =>
    Object.entries(values).map(([stat, value]) => [`${GROUPS[group].raw(name)}.${stat}`, value] as const),
  );
  return new Map(entries);
}
