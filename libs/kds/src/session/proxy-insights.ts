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

/** The kind of the insight of each kind of proxy. */
const INSIGHT_KINDS: ReadonlyMap<string, string> = new Map([
  ['Dataplane', 'DataplaneInsight'],
  ['ZoneIngress', 'ZoneIngressInsight'],
  ['ZoneEgress', 'ZoneEgressInsight'],
]);
const OWNER_OF: ReadonlyMap<string, string> = new Map([...INSIGHT_KINDS].map(([owner, insight]) => [insight, owner]));

/** Fields of an insight as Kuma defines it; they are not validated here. */
const Spec = Type.Record(Type.String(), Type.Unknown(), { maxProperties: 64, propertyNames: { maxLength: 1_024 } });

function insightKind(name: string, shortName: string, of: Pick<Kind, 'scope' | 'namespaced'>): Kind {
  const plural = `${name.toLowerCase()}s`;
  return defineKind({ name, plural, shortName, ...of, sync: Sync.insights, bounds: { bytes: 256 * 1024 }, spec: Spec });
}

/** Kinds for sync only: the state of proxies' connections that zones report to the global (docs/reference/kds-wire.md §3.2). */
const KINDS: readonly Kind[] = [
  insightKind('DataplaneInsight', 'dpinsight', { scope: 'mesh', namespaced: true }),
  insightKind('ZoneIngressInsight', 'ziinsight', { scope: 'global', namespaced: false }),
  insightKind('ZoneEgressInsight', 'zeinsight', { scope: 'global', namespaced: false }),
];

/** Returns the kinds of `registry` and the kinds for sync only: insights of proxies, and what proxies have applied of routes. */
export function withInsightKinds(registry: Registry): Registry {
  return registry.with([...KINDS, RouteInsight]);
}

/** Returns the kinds of `registry` and the kinds that our control planes write for each other. */
export function withRevocations(registry: Registry): Registry {
  return registry.with([WorkloadRevocation, IdentityPathState]);
}

export function isInsightKind(kind: string): boolean {
  return OWNER_OF.has(kind);
}

/** Returns whether proxies of this kind have insights. */
export function hasInsight(kind: string): boolean {
  return INSIGHT_KINDS.has(kind);
}

/** Returns the key of the insight of a Dataplane, ingress or egress; undefined for other kinds. */
export function insightKey(owner: Identity): ResourceKey | undefined {
  const kind = INSIGHT_KINDS.get(owner.kind);
  return kind === undefined ? undefined : identityKey({ ...owner, kind });
}

/** Returns the key of the Dataplane, ingress or egress of an insight. */
export function ownerKey(insight: ResourceKey): ResourceKey {
  const id = parseIdentityKey(insight);
  return identityKey({ ...id, kind: OWNER_OF.get(id.kind) ?? id.kind });
}

/** Returns the kind of proxy that has insights of this kind. */
export function ownerKind(insight: string): string {
  return OWNER_OF.get(insight) ?? '';
}

/** Returns the insight that a zone sent of this resource's proxy; undefined if it sent none. */
export function findStoredInsight(index: Pick<IndexReader, 'byIdentityKey'>, { id }: Resource): JsonObject | undefined {
  const key = insightKey(id);
  return key === undefined ? undefined : index.byIdentityKey(key)?.spec;
}

/**
 * Returns `before` if two insights differ in counters only, which change with every response to a proxy and are not worth a write; else
 * `spec`.
 */
export function withoutCounters(spec: JsonObject, before: JsonObject | undefined): JsonObject {
  return before && JSON.stringify(removeCounters(before)) === JSON.stringify(removeCounters(spec)) ? before : spec;
}

function removeCounters({ subscriptions, mTLS }: JsonObject): JsonValue {
  const last = findLatestSubscription(subscriptions).map(
    ({ id, controlPlaneInstanceId, connectTime, disconnectTime, version }) => [
      ...[id, controlPlaneInstanceId, connectTime, disconnectTime].map((part) => part ?? null),
      isJsonObject(version) ? (version['envoy'] ?? null) : null,
    ],
  );
  return [last, isJsonObject(mTLS) ? (mTLS['certificateExpirationTime'] ?? null) : null];
}

/** Returns the last subscription, which is the current one: Kuma appends one for each connection. */
function findLatestSubscription(subscriptions: JsonValue | undefined): readonly JsonObject[] {
  return isJsonArray(subscriptions) ? subscriptions.filter(isJsonObject).slice(-1) : [];
}
