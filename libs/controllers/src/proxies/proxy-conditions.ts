import {
  identityKey,
  shortened,
  withCondition,
  withoutConditions,
  type Condition,
  type Resource,
} from '@causeway/resources';
import type { IndexChange, IndexReader, PatchChange, ProxyFacts, ProxyFault } from '@causeway/store';
import { NO_KEYS, RESCAN, type KeyedReconciler, type Keys, type ReconcileResult } from '../reconcile/keyed-reconciler';
import type { ProxyDirectory } from './proxy-directory';

/** The condition of a Dataplane or ingress whose proxy rejected resources; absent where it accepts everything. */
export const REJECTED_BY_PROXY = 'RejectedByProxy';
/** The condition of a Dataplane or ingress whose proxy lacks resources that break Envoy's rules; absent where it lacks none. */
export const BREAKS_ENVOY_RULES = 'BreaksEnvoyRules';

const TYPES: readonly string[] = [REJECTED_BY_PROXY, BREAKS_ENVOY_RULES];
/** Whose proxies have conditions. */
const KINDS = ['Dataplane', 'ZoneIngress', 'ZoneEgress'];
/** Faults that a condition spells out; the others are counted. */
const MOST_SHOWN = 3;
const LONGEST_REASON = 300;

/** The patch that brings the conditions of a proxy's resource up to date; undefined when they are. */
export function planProxyConditions(
  resource: Resource,
  facts: Pick<ProxyFacts, 'rejected' | 'refused'> | undefined,
  now: number,
): PatchChange | undefined {
  const { id, revision, generation, status: before = {} } = resource;
  const wanted: Condition[] = [
    ...conditions(REJECTED_BY_PROXY, 'Rejected', facts?.rejected ?? [], generation),
    ...conditions(BREAKS_ENVOY_RULES, 'NotSent', facts?.refused ?? [], generation),
  ];
  const ended = TYPES.filter((type) => !wanted.some((condition) => condition.type === type));
  const status = wanted.reduce(
    (written, condition) => withCondition(written, condition, now),
    withoutConditions(before, ended),
  );
  return status === before ? undefined : { type: 'patch', id, expect: revision, status };
}

function conditions(
  type: string,
  reason: string,
  faults: readonly ProxyFault[],
  observedGeneration: number,
): readonly Condition[] {
  if (faults.length === 0) return [];
  const lines = faults.slice(0, MOST_SHOWN).map(describeFault);
  const more = faults.length > lines.length ? [`and ${faults.length - lines.length} more`] : [];
  return [{ type, status: 'True', reason, message: [...lines, ...more].join('; '), observedGeneration }];
}

function describeFault({ type, name, version, reason }: ProxyFault): string {
  const at = version === undefined ? '' : ` (version ${version})`;
  return `${typeName(type)} ${name}${at}: ${shortened(reason, LONGEST_REASON, '…')}`;
}

/** `Cluster` of `type.googleapis.com/envoy.config.cluster.v3.Cluster`. */
export function typeName(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf('.') + 1);
}

/**
 * Says at each Dataplane and ingress of the zone which resources its proxy rejected, and which were not sent to it because they
 * break Envoy's rules, until it accepts them (docs/reference/proxies.md). A resource whose proxy is served without faults is never
 * written.
 */
export class ProxyConditionsReconciler implements KeyedReconciler {
  readonly name = 'proxies';
  readonly looksOutside = true;
  private lookedAt: number | undefined;

  constructor(
    private readonly zone: string,
    private readonly proxies: Pick<ProxyDirectory, 'isLoaded' | 'ofOwner' | 'changesSince'>,
  ) {}

  *seed(index: IndexReader): Iterable<Keys> {
    for (const kind of KINDS)
      for (const { id } of index.ofKind(kind)) yield id.zone === this.zone ? [identityKey(id)] : NO_KEYS;
  }

  keysOf({ id, key, after }: IndexChange): Keys {
    return KINDS.includes(id.kind) && id.zone === this.zone && after ? [key] : NO_KEYS;
  }

  outsideKeys(): readonly (string | typeof RESCAN)[] {
    if (!this.proxies.isLoaded) return NO_KEYS;
    const { next, owners } = this.proxies.changesSince(this.lookedAt);
    this.lookedAt = next;
    return owners === 'all' ? [RESCAN] : owners;
  }

  reconcile(key: string, index: IndexReader, now: number): ReconcileResult | undefined {
    const resource = index.byIdentityKey(key);
    if (!resource || !this.proxies.isLoaded) return undefined;
    return { change: planProxyConditions(resource, this.proxies.ofOwner(key)?.facts, now) };
  }
}
