import { IdentityPathState, RouteInsight, WorkloadRevocation } from '@causeway/kinds';
import {
  defineKind,
  identityKey,
  isJsonArray,
  isJsonObject,
  parseIdentityKey,
  Sync,
  type Identity,
  type JsonObject,
  type JsonValue,
  type Kind,
  type Registry,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import { Type } from 'typebox';

/** The insights by the kind whose proxies they are of. */
const INSIGHT_OF: ReadonlyMap<string, string> = new Map([
  ['Dataplane', 'DataplaneInsight'],
  ['ZoneIngress', 'ZoneIngressInsight'],
  ['ZoneEgress', 'ZoneEgressInsight'],
]);
const OWNER_OF: ReadonlyMap<string, string> = new Map([...INSIGHT_OF].map(([owner, insight]) => [insight, owner]));

/** Fields of an insight as Kuma defines it; none of them is checked here. */
const Spec = Type.Record(Type.String(), Type.Unknown(), { maxProperties: 64, propertyNames: { maxLength: 1_024 } });

function insightKind(name: string, shortName: string, of: Pick<Kind, 'scope' | 'namespaced'>): Kind {
  const plural = `${name.toLowerCase()}s`;
  return defineKind({ name, plural, shortName, ...of, sync: Sync.insights, bounds: { bytes: 256 * 1024 }, spec: Spec });
}

/** Kinds of sync only: what zones tell the global of the connections of their proxies (docs/reference/kds-wire.md §3.2). */
const KINDS: readonly Kind[] = [
  insightKind('DataplaneInsight', 'dpinsight', { scope: 'mesh', namespaced: true }),
  insightKind('ZoneIngressInsight', 'ziinsight', { scope: 'global', namespaced: false }),
  insightKind('ZoneEgressInsight', 'zeinsight', { scope: 'global', namespaced: false }),
];

/** The kinds of `registry`, and those of sync only: insights of proxies, and of what they have applied of routes. */
export function withInsightKinds(registry: Registry): Registry {
  return registry.with([...KINDS, RouteInsight]);
}

/** The kinds of `registry`, and those that control planes of ours write for each other. */
export function withRevocations(registry: Registry): Registry {
  return registry.with([WorkloadRevocation, IdentityPathState]);
}

export function isInsightKind(kind: string): boolean {
  return OWNER_OF.has(kind);
}

/** The kinds whose proxies have insights. */
export function hasInsight(kind: string): boolean {
  return INSIGHT_OF.has(kind);
}

/** The key of the insight of a Dataplane, ingress or egress; undefined for other kinds. */
export function insightKey(owner: Identity): ResourceKey | undefined {
  const kind = INSIGHT_OF.get(owner.kind);
  return kind === undefined ? undefined : identityKey({ ...owner, kind });
}

/** The key of the Dataplane, ingress or egress of an insight. */
export function ownerKey(insight: ResourceKey): ResourceKey {
  const id = parseIdentityKey(insight);
  return identityKey({ ...id, kind: OWNER_OF.get(id.kind) ?? id.kind });
}

/** The kind of what has an insight of this kind. */
export function ownerKind(insight: string): string {
  return OWNER_OF.get(insight) ?? '';
}

/** Returns the insight that a zone sent of this resource's proxy; undefined if it sent none. */
export function storedInsight(index: Pick<IndexReader, 'byIdentityKey'>, { id }: Resource): JsonObject | undefined {
  const key = insightKey(id);
  return key === undefined ? undefined : index.byIdentityKey(key)?.spec;
}

/**
 * Returns `before` if two insights differ in counters only, which change with every response to a proxy and are not worth a write; else
 * `spec`.
 */
export function withoutCounters(spec: JsonObject, before: JsonObject | undefined): JsonObject {
  return before && JSON.stringify(essence(before)) === JSON.stringify(essence(spec)) ? before : spec;
}

function essence({ subscriptions, mTLS }: JsonObject): JsonValue {
  const last = latest(subscriptions).map(({ id, controlPlaneInstanceId, connectTime, disconnectTime, version }) => [
    ...[id, controlPlaneInstanceId, connectTime, disconnectTime].map((part) => part ?? null),
    isJsonObject(version) ? (version['envoy'] ?? null) : null,
  ]);
  return [last, isJsonObject(mTLS) ? (mTLS['certificateExpirationTime'] ?? null) : null];
}

/** Kuma appends a subscription for each connection: the last one counts. */
function latest(subscriptions: JsonValue | undefined): readonly JsonObject[] {
  return isJsonArray(subscriptions) ? subscriptions.filter(isJsonObject).slice(-1) : [];
}
