import type { IncomingResponse } from '../wire/response';
import type { WireResource } from '../wire/wire-resource';

/** The kind by which a Kuma global tells its zones which global it is (kds.md §7 Cluster id). */
export const CONFIG = 'Config';

const CLUSTER_ID = 'kuma-cluster-id';

/** The Config that a Kuma zone expects of its global; `life` is what names us. */
export function clusterConfig(life: string): WireResource {
  return { kind: CONFIG, name: CLUSTER_ID, mesh: '', labels: { 'kuma.io/origin': 'global' }, spec: { config: life } };
}

/** The cluster id in a response of kind Config; undefined when it is not in it. */
export function clusterIdIn(response: IncomingResponse): string | undefined {
  for (const received of response.resources) {
    if (!received.ok || received.resource.name !== CLUSTER_ID) continue;
    const { config } = received.resource.spec;
    if (typeof config === 'string' && config !== '') return config;
  }
  return undefined;
}
