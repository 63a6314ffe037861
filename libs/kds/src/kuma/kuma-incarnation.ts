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

/**
 * The lives of plain Kuma zones, by the control-plane id in their node metadata: said on one stream and needed on the
 * other (design.md §5 A new life is not a deletion either).
 */
export class KumaInstanceIds {
  private readonly ids = new Map<string, string>();
  private readonly waiting = new Map<string, () => void>();

  of(zone: string): string | undefined {
    return this.ids.get(zone);
  }

  learn(zone: string, life: string): void {
    if (life === '' || this.ids.get(zone) === life) return;
    this.ids.set(zone, life);
    this.waiting.get(zone)?.();
  }

  /** Calls back when the life of a zone is learnt, until the returned function is called. */
  onLearnt(zone: string, learnt: () => void): () => void {
    this.waiting.set(zone, learnt);
    return () => {
      if (this.waiting.get(zone) === learnt) this.waiting.delete(zone);
    };
  }
}
