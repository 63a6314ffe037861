import type { IncomingResponse } from '../wire/response';
import type { WireResource } from '../wire/wire-resource';

/** The kind by which a Kuma global tells its zones which global it is (docs/reference/kds-wire.md §7 Cluster id). */
export const CONFIG = 'Config';

const CLUSTER_ID = 'kuma-cluster-id';

/** The Config that a Kuma zone expects of its global; `incarnation` is what identifies this global. */
export function clusterConfig(incarnation: string): WireResource {
  const labels = { 'kuma.io/origin': 'global' };
  return { kind: CONFIG, name: CLUSTER_ID, mesh: '', labels, spec: { config: incarnation } };
}

/** The cluster id in a response of kind Config; undefined where the response has none. */
export function clusterIdIn(response: IncomingResponse): string | undefined {
  for (const received of response.resources) {
    if (!received.ok || received.resource.name !== CLUSTER_ID) continue;
    const { config } = received.resource.spec;
    if (typeof config === 'string' && config !== '') return config;
  }
  return undefined;
}

/**
 * The incarnation of a plain Kuma peer. Its state does not name it: a zone sends it as the control-plane id of its node
 * metadata, a global as the cluster id of a Config (docs/design.md §5 A new incarnation is not a deletion either).
 */
export class KumaIncarnation {
  private id: string | undefined;
  private listener: (() => void) | undefined;

  /** Undefined until the peer has sent it. */
  get current(): string | undefined {
    return this.id;
  }

  /** An empty id is ignored. */
  learn(id: string): void {
    if (id === '' || id === this.id) return;
    this.id = id;
    this.listener?.();
  }

  /** Calls `listener` when another id is learnt, until the returned function is called; it replaces the former listener. */
  onLearnt(listener: () => void): () => void {
    this.listener = listener;
    return () => {
      if (this.listener === listener) this.listener = undefined;
    };
  }
}

/** The incarnations of the plain Kuma zones of a global; both streams of a zone share one, over all its sessions. */
export class KumaIncarnations {
  private readonly byZone = new Map<string, KumaIncarnation>();

  of(zone: string): KumaIncarnation {
    const known = this.byZone.get(zone) ?? new KumaIncarnation();
    this.byZone.set(zone, known);
    return known;
  }
}
