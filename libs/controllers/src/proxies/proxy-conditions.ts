import {
  conditionOf,
  identityKey,
  shortened,
  withCondition,
  withoutConditions,
  type Condition,
  type Resource,
} from '@causeway/resources';
import { xdsTypeName, type IndexChange, type IndexReader, type PatchChange, type ProxyFault } from '@causeway/store';
import { NO_KEYS, RESCAN, type KeyedReconciler, type Keys, type ReconcileResult } from '@causeway/loops';
import { isProxyGone, type KnownProxy } from './known-proxies';
import type { ProxyDirectory } from './proxy-directory';

/** The condition of a Dataplane or ingress whose proxy rejected resources; absent where it accepts everything. */
const REJECTED_BY_PROXY = 'RejectedByProxy';
/** The condition of a Dataplane or ingress whose proxy lacks resources that break Envoy's rules; absent where it lacks none. */
const BREAKS_ENVOY_RULES = 'BreaksEnvoyRules';

/**
 * The condition that the proxy of a Dataplane, ingress or egress has been told and has acked everything, up to the generation in
 * `observedGeneration`. Absent where no proxy was seen.
 */
const PROGRAMMED = 'Programmed';

const PROXY_GONE = 'ProxyGone';

const FAULTS: readonly string[] = [REJECTED_BY_PROXY, BREAKS_ENVOY_RULES];
/** Whose proxies have conditions. */
const PROXY_KINDS: readonly string[] = ['Dataplane', 'ZoneIngress', 'ZoneEgress'];
/** How often it is looked again whether a proxy has acked, or has come back, ms. */
const LOOK_AGAIN = 1_000;
/** Faults that a condition spells out; the others are counted. */
const MOST_SHOWN = 3;
const LONGEST_REASON = 300;

/** What the conditions of a proxy's resource are made of. */
interface ProxyView {
  /** Undefined where no proxy was seen, or none for long. */
  readonly proxy: KnownProxy | undefined;
  readonly isGone: boolean;
}

/** The patch that brings the conditions of a proxy's resource up to date; undefined when they are. */
function planProxyConditions(resource: Resource, view: ProxyView, now: number): PatchChange | undefined {
  const { id, revision, generation, status: before = {} } = resource;
  const facts = view.proxy?.facts;
  const faults: Condition[] = [
    ...conditions(REJECTED_BY_PROXY, 'Rejected', facts?.rejected ?? [], generation),
    ...conditions(BREAKS_ENVOY_RULES, 'NotSent', facts?.refused ?? [], generation),
  ];
  const programmed = programmedCondition(resource, view);
  const ended = FAULTS.filter((type) => !faults.some((condition) => condition.type === type));
  if (!view.proxy) ended.push(PROGRAMMED);
  const wanted = programmed ? [...faults, programmed] : faults;
  const status = wanted.reduce(
    (written, condition) => withCondition(written, condition, now),
    withoutConditions(before, ended),
  );
  return status === before ? undefined : { type: 'patch', id, expect: revision, status };
}

/** Undefined where what is written stays: nothing more is known. */
function programmedCondition({ generation, revision }: Resource, { proxy, isGone }: ProxyView): Condition | undefined {
  if (!proxy) return undefined;
  const of = { type: PROGRAMMED, observedGeneration: generation };
  const { rejected, refused } = proxy.facts;
  if (isGone) return { ...of, status: 'False', reason: PROXY_GONE, message: 'its proxy is not connected' };
  if (!proxy.connected) return undefined;
  const lacking = rejected.length + refused.length;
  if (lacking > 0) {
    const why = [
      ...(rejected.length > 0 ? [REJECTED_BY_PROXY] : []),
      ...(refused.length > 0 ? [BREAKS_ENVOY_RULES] : []),
    ];
    const message = `its proxy lacks ${lacking} ${lacking === 1 ? 'resource' : 'resources'}: ${why.join(', ')}`;
    return { ...of, status: 'False', reason: 'Invalid', message };
  }
  if (appliedBy(proxy) < revision) return undefined;
  return { ...of, status: 'True', reason: 'Programmed', message: 'its proxy has acked everything' };
}

/** The revision up to which a connected proxy has applied all changes; -1 where that is not known. */
function appliedBy({ facts, revision }: KnownProxy): number {
  return facts.isSettled ? (facts.applied ?? revision) : -1;
}

/** Whether what is to be written may change although nothing is told of the proxy. */
function isPending({ generation, status }: Resource, { proxy, isGone }: ProxyView): boolean {
  if (!proxy || isGone) return false;
  if (!proxy.connected) return true;
  if (proxy.facts.rejected.length + proxy.facts.refused.length > 0) return false;
  const written = conditionOf(status, PROGRAMMED);
  return written?.['status'] !== 'True' || written['observedGeneration'] !== generation;
}

/** Whether it is written that the proxy of a Dataplane, ingress or egress is gone. */
export function isWrittenGone({ status }: Pick<Resource, 'status'>): boolean {
  return conditionOf(status, PROGRAMMED)?.['reason'] === PROXY_GONE;
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
  return `${xdsTypeName(type)} ${name}${at}: ${shortened(reason, LONGEST_REASON, '…')}`;
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
  private ledSince: number | undefined;

  constructor(
    private readonly zone: string,
    private readonly proxies: Pick<ProxyDirectory, 'isLoaded' | 'ofOwner' | 'changesSince' | 'storeNow'>,
  ) {}

  *seed(index: IndexReader): Iterable<Keys> {
    for (const kind of PROXY_KINDS)
      for (const { id } of index.ofKind(kind)) yield id.zone === this.zone ? [identityKey(id)] : NO_KEYS;
  }

  keysOf({ id, key, after }: IndexChange): Keys {
    return PROXY_KINDS.includes(id.kind) && id.zone === this.zone && after ? [key] : NO_KEYS;
  }

  outsideKeys(): readonly (string | typeof RESCAN)[] {
    if (!this.proxies.isLoaded) return NO_KEYS;
    const { next, owners } = this.proxies.changesSince(this.lookedAt);
    this.lookedAt = next;
    return owners === 'all' ? [RESCAN] : owners;
  }

  reconcile(key: string, index: IndexReader, now: number): ReconcileResult | undefined {
    const resource = index.byIdentityKey(key);
    this.ledSince ??= now;
    if (!resource || !this.proxies.isLoaded) return undefined;
    const proxy = this.proxies.ofOwner(key);
    const at = { storeNow: this.proxies.storeNow, ledFor: now - this.ledSince };
    const view = { proxy, isGone: proxy !== undefined && isProxyGone(proxy, at) };
    const dueAt = isPending(resource, view) ? now + LOOK_AGAIN : undefined;
    return { change: planProxyConditions(resource, view, now), dueAt };
  }
}
