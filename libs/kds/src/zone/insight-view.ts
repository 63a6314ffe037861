import { createHash } from 'node:crypto';
import { identityKey, parseIdentityKey, type JsonObject, type Resource, type ResourceKey } from '@causeway/resources';
import type { Clock, Timer } from '@causeway/runtime';
import type { IndexEvent } from '@causeway/store';
import { hasInsight, insightKey, isInsightKind, ownerKey, ownerKind, withoutCounters } from '../session/proxy-insights';
import type { OutboundHalf } from '../session/outbound/outbound-half';
import {
  toOutboundItem,
  PeerIndexView,
  type IndexViewSource,
  type OutboundItem,
  type VisibilityRules,
} from '../session/outbound/peer-index-view';
import type { Dialect } from '../wire/dialect';

/** State of the connections of a zone's proxies, which is not in the zone's log. */
export interface InsightSource {
  /** False until the state of the proxies is known. */
  readonly isLoaded: boolean;
  /** Returns the insight in Kuma's form; undefined if no proxy of this Dataplane, ingress or egress was seen. */
  findInsight(owner: Resource): JsonObject | undefined;
  /** Calls `listener` with the identity keys of the resources whose proxies have new state, until the returned function is called. */
  subscribe(listener: (owners: ReadonlySet<ResourceKey>) => void): () => void;
}

/** Minimum time between two reports of insights, ms; changes in between are sent together. */
const REPORT_INTERVAL = 5_000;
/** Interval of the checks whether the source is loaded, ms. */
const POLL_INTERVAL = 1_000;

/**
 * Resources of a zone that a global may have: those of the index, and the insights of proxies. An insight is sent when
 * a proxy connects, disconnects or gets another certificate; changes of counters alone are not sent.
 */
export class InsightView extends PeerIndexView {
  /** The insights that were sent or are about to be. */
  private readonly made = new Map<ResourceKey, Resource>();
  private readonly stale = new Set<ResourceKey>();
  private timer: Timer | undefined;
  private loading: Timer | undefined;

  constructor(
    source: IndexViewSource,
    private readonly form: () => Dialect,
    private readonly visible: VisibilityRules,
    private readonly insights: InsightSource,
  ) {
    super(source, form, visible);
  }

  protected override *keys(kind: string): Iterable<ResourceKey> {
    if (!isInsightKind(kind)) {
      yield* super.keys(kind);
      return;
    }
    for (const { id } of this.source.index.ofKind(ownerKind(kind))) {
      const key = insightKey(id);
      if (key !== undefined && this.insight(key)) yield key;
    }
  }

  override get(key: ResourceKey): OutboundItem | undefined {
    if (!isInsightKind(parseIdentityKey(key).kind)) return super.get(key);
    const insight = this.insight(key);
    if (!insight) this.made.delete(key);
    return insight && toOutboundItem(this.source.encoder, insight, this.form());
  }

  /** Marks new insights on a stream until the returned function is called. */
  follow(half: OutboundHalf, clock: Clock): () => void {
    let until = 0;
    const flush = (): void => {
      this.timer = undefined;
      until = clock.elapsed() + REPORT_INTERVAL;
      for (const key of this.stale) {
        const was = this.made.get(key);
        half.mark(parseIdentityKey(key).kind, key, () => was && toOutboundItem(this.source.encoder, was, this.form()));
      }
      this.stale.clear();
      half.pump();
    };
    const add = (owners: Iterable<ResourceKey>): void => {
      for (const owner of owners) {
        const key = insightKey(parseIdentityKey(owner));
        if (key !== undefined) this.stale.add(key);
      }
      if (this.stale.size > 0) this.timer ??= clock.after(Math.max(0, until - clock.elapsed()), flush);
    };
    const wait = (): void => {
      if (this.insights.isLoaded) half.resume();
      else this.loading = clock.after(POLL_INTERVAL, wait);
    };
    wait();
    const unsubscribe = [
      this.insights.subscribe(add),
      this.source.index.subscribe(({ changes }: IndexEvent) =>
        add(changes.filter(({ id, after }) => hasInsight(id.kind) && !after).map(({ key }) => key)),
      ),
    ];
    return () => {
      for (const end of unsubscribe) end();
      this.timer?.cancel();
      this.loading?.cancel();
    };
  }

  /** Returns the insight of a resource that the global may see; the same object as long as its content is the same. */
  private insight(key: ResourceKey): Resource | undefined {
    const owner = this.source.index.byIdentityKey(ownerKey(key));
    const kind = owner && this.source.registry.kind(owner.id.kind);
    const insight = owner && kind && this.visible.isVisible(kind, owner) ? this.insights.findInsight(owner) : undefined;
    if (!owner || !insight) return undefined;
    const before = this.made.get(key);
    const spec = withoutCounters(insight, before?.spec);
    if (before && spec === before.spec) return before;
    const made = this.toResource(key, owner, spec);
    this.made.set(key, made);
    return made;
  }

  private toResource(key: ResourceKey, owner: Resource, spec: JsonObject): Resource {
    const { status: _, ...facts } = owner;
    // No revision of the log: another session would send the same insight again.
    const origin = { incarnation: '', revision: 0, committedAt: 0 };
    const id = parseIdentityKey(key);
    const uid = formatUid(identityKey(id));
    return { ...facts, id, uid, spec, generation: 1, origin };
  }
}

/** In the form of a uuid; the same for each insight of one proxy. */
function formatUid(key: ResourceKey): string {
  const hex = createHash('sha256').update(key).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
