import type { IncomingResponse } from '../wire/response';
import type { WireResource } from '../wire/wire-resource';

/** The kind in which a Kuma global sends its cluster id to its zones (docs/reference/kds-wire.md §7 Cluster id). */
export const CONFIG_KIND = 'Config';

const CLUSTER_ID = 'kuma-cluster-id';

/** Returns the Config that a Kuma zone expects of its global; `incarnation` is this global's cluster id. */
export function toClusterConfig(incarnation: string): WireResource {
  const labels = { 'kuma.io/origin': 'global' };
  return { kind: CONFIG_KIND, name: CLUSTER_ID, mesh: '', labels, spec: { config: incarnation } };
}

/** Returns the cluster id in a response of kind Config; undefined if the response has none. */
export function findClusterId(response: IncomingResponse): string | undefined {
  for (const received of response.resources) {
    if (!received.ok || received.resource.name !== CLUSTER_ID) continue;
    const { config } = received.resource.spec;
    if (typeof config === 'string' && config !== '') return config;
  }
  return undefined;
}

/**
 * The incarnation of a plain Kuma peer. Its state does not name one: a zone sends it as the control-plane id of its
 * node metadata, a global as the cluster id of a Config (docs/design.md §5 A new incarnation is not a deletion either).
 */
export class KumaIncarnation {
  private id: string | undefined;
  private listener: (() => void) | undefined;

  /** Undefined until the peer has sent it. */
  get current(): string | undefined {
    return this.id;
  }

  /** Records the peer's id; ignores an empty one. */
  learn(id: string): void {
    if (id === '' || id === this.id) return;
    this.id = id;
    this.listener?.();
  }

  /** Calls `listener` when the id changes, until the returned function is called; replaces the former listener. */
  onLearnt(listener: () => void): () => void {
    this.listener = listener;
    return () => {
      if (this.listener === listener) this.listener = undefined;
    };
  }
}

/** The incarnations of the plain Kuma zones of a global; both streams of a zone share one, across all its sessions. */
export class KumaIncarnations {
  private readonly byZone = new Map<string, KumaIncarnation>();

  of(zone: string): KumaIncarnation {
    const known = this.byZone.get(zone) ?? new KumaIncarnation();
    this.byZone.set(zone, known);
    return known;
  }
}
