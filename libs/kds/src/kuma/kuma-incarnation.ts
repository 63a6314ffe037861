import type { IncomingResponse } from '../wire/response';
import type { WireResource } from '../wire/wire-resource';

/** The kind with which a Kuma global sends its cluster id to zones (docs/reference/kds-wire.md §7 Cluster id). */
export const CONFIG = 'Config';

const CLUSTER_ID = 'kuma-cluster-id';

/** The Config that a Kuma zone expects of its global; the cluster id is the incarnation of the global's store. */
export function clusterConfig(incarnation: string): WireResource {
  return {
    kind: CONFIG,
    name: CLUSTER_ID,
    mesh: '',
    labels: { 'kuma.io/origin': 'global' },
    spec: { config: incarnation },
  };
}

/** The cluster id in a response of kind Config; undefined if it is not there. */
export function clusterIdIn(response: IncomingResponse): string | undefined {
  for (const received of response.resources) {
    if (!received.ok || received.resource.name !== CLUSTER_ID) continue;
    const { config } = received.resource.spec;
    if (typeof config === 'string' && config !== '') return config;
  }
  return undefined;
}

/**
 * The control-plane ids of plain Kuma zones, which serve as their incarnations (docs/design.md §5). A zone sends its id on
 * one stream, and the other one needs it.
 */
export class KumaInstanceIds {
  private readonly ids = new Map<string, string>();
  private readonly waiting = new Map<string, () => void>();

  of(zone: string): string | undefined {
    return this.ids.get(zone);
  }

  learn(zone: string, id: string): void {
    if (id === '' || this.ids.get(zone) === id) return;
    this.ids.set(zone, id);
    this.waiting.get(zone)?.();
  }

  /** Calls `learnt` after each new id of a zone, until the returned function is called. */
  onLearnt(zone: string, learnt: () => void): () => void {
    this.waiting.set(zone, learnt);
    return () => {
      if (this.waiting.get(zone) === learnt) this.waiting.delete(zone);
    };
  }
}
