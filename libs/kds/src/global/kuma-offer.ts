import { clusterConfig, CONFIG } from '../kuma/cluster-config';
import { PeerIndexView, itemFromBytes, type OutboundItem } from '../session/outbound/peer-index-view';
import { KUMA_DIALECT } from '../wire/dialect';

const CLUSTER_ID_KEY = `${CONFIG}////kuma-cluster-id`;

/** What a plain Kuma zone may be told: what the index holds, and which global this is (kds.md §10.1). */
export class KumaOffer extends PeerIndexView {
  override *keys(kind: string): Iterable<string> {
    if (kind === CONFIG) yield CLUSTER_ID_KEY;
    else yield* super.keys(kind);
  }

  override get(key: string): OutboundItem | undefined {
    if (key !== CLUSTER_ID_KEY) return super.get(key);
    const encoding = this.source.encoder.encodeWire(
      clusterConfig(this.source.index.point?.incarnation ?? ''),
      KUMA_DIALECT,
    );
    return encoding.ok ? itemFromBytes(encoding.resource) : undefined;
  }
}
