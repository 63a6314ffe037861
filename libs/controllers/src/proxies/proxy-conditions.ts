import {
  findCondition,
  identityKey,
  shortened,
  withCondition,
  withoutConditions,
  type Condition,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import { xdsTypeName, type IndexChange, type PatchChange, type ProxyFault } from '@causeway/store';
import { KeyedLoop, NO_KEYS, RESCAN, type Keys } from '@causeway/loops';
import { StatusReconciler, type StatusMoment, type StatusPlan, type StatusPlanner } from '../status/status-reconciler';
import { isProxyGone, type KnownProxy } from './known-proxies';
import type { ProxyDirectory } from './proxy-directory';

/** The condition of a Dataplane or ingress whose proxy rejected resources; absent if it accepts all. */
const REJECTED_BY_PROXY = 'RejectedByProxy';
/** The condition of a Dataplane or ingress with resources that violate Envoy's constraints; absent if there are none. */
const BREAKS_ENVOY_RULES = 'BreaksEnvoyRules';

/**
 * The condition that the proxy of a Dataplane, ingress or egress was sent everything and has acknowledged it, up to the generation in
 * `observedGeneration`. Absent if no proxy was seen.
 */
const PROGRAMMED = 'Programmed';

const PROXY_GONE = 'ProxyGone';

const FAULTS: readonly string[] = [REJECTED_BY_PROXY, BREAKS_ENVOY_RULES];
/** The kinds that have a proxy. */
const PROXY_KINDS: readonly string[] = ['Dataplane', 'ZoneIngress', 'ZoneEgress'];
/** Maximum number of faults that a condition lists; the others are counted. */
const MAX_SHOWN = 3;
const MAX_REASON_LENGTH = 300;

/** The proxy of a resource at one moment. */
interface ObservedProxy {
  /** Undefined if no proxy was seen recently. */
  readonly proxy: KnownProxy | undefined;
  readonly isGone: boolean;
}

/** Returns the patch that updates the conditions of a proxy's resource; undefined if they are up to date. */
function planProxyConditions(resource: Resource, view: ObservedProxy, now: number): PatchChange | undefined {
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

/** Returns undefined if nothing new is known: the written condition stays. */
function programmedCondition(
  { generation, revision }: Resource,
  { proxy, isGone }: ObservedProxy,
): Condition | undefined {
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

/** Returns the revision up to which a connected proxy has applied all changes; -1 if unknown. */
function appliedBy({ facts, revision }: KnownProxy): number {
  return facts.isSettled ? (facts.applied ?? revision) : -1;
}

/** Reports whether the conditions may change without a new report about the proxy. */
function isPending({ generation, status }: Resource, { proxy, isGone }: ObservedProxy): boolean {
  if (!proxy || isGone) return false;
  if (!proxy.connected) return true;
  if (proxy.facts.rejected.length + proxy.facts.refused.length > 0) return false;
  const written = findCondition(status, PROGRAMMED);
  return written?.['status'] !== 'True' || written['observedGeneration'] !== generation;
}

/** Reports whether the written status states that the proxy of a Dataplane, ingress or egress is gone. */
export function isWrittenGone({ status }: Pick<Resource, 'status'>): boolean {
  return findCondition(status, PROGRAMMED)?.['reason'] === PROXY_GONE;
}

function conditions(
  type: string,
  reason: string,
  faults: readonly ProxyFault[],
  observedGeneration: number,
): readonly Condition[] {
  if (faults.length === 0) return [];
  const lines = faults.slice(0, MAX_SHOWN).map(describeFault);
  const more = faults.length > lines.length ? [`and ${faults.length - lines.length} more`] : [];
  return [{ type, status: 'True', reason, message: [...lines, ...more].join('; '), observedGeneration }];
}

function describeFault({ type, name, version, reason }: ProxyFault): string {
  const at = version === undefined ? '' : ` (version ${version})`;
  return `${xdsTypeName(type)} ${name}${at}: ${shortened(reason, MAX_REASON_LENGTH, '…')}`;
}

/**
 * Plans the conditions of the Dataplanes, ingresses and egresses of a zone: the resources that the proxy rejected, and those that were not sent
 * because they violate Envoy's constraints, until it accepts them (docs/reference/proxies.md). A resource whose proxy has no faults is never written.
 */
class ProxyConditionsPlanner implements StatusPlanner {
  readonly name = 'proxies';
  readonly kinds = PROXY_KINDS;
  private ledSince: number | undefined;

  constructor(
    private readonly zone: string,
    private readonly proxies: Pick<ProxyDirectory, 'isLoaded' | 'ofOwner' | 'storeNow'>,
  ) {}

  get isReady(): boolean {
    return this.proxies.isLoaded;
  }

  writes({ id }: Pick<Resource, 'id'>): boolean {
    return PROXY_KINDS.includes(id.kind) && id.zone === this.zone;
  }

  listKeys({ id, key, after }: IndexChange): Keys {
    return after && this.writes({ id }) ? [key] : NO_KEYS;
  }

  plan(resource: Resource, { now }: StatusMoment): StatusPlan {
    this.ledSince ??= now;
    const proxy = this.proxies.ofOwner(identityKey(resource.id));
    const at = { storeNow: this.proxies.storeNow, ledFor: now - this.ledSince };
    const view = { proxy, isGone: proxy !== undefined && isProxyGone(proxy, at) };
    return { change: planProxyConditions(resource, view, now), isPending: isPending(resource, view) };
  }
}

/** Creates the loop of the conditions of proxies of a zone. */
export function createProxyConditionsLoop(
  zone: string,
  proxies: Pick<ProxyDirectory, 'isLoaded' | 'ofOwner' | 'changesSince' | 'storeNow'>,
): KeyedLoop {
  let readUpTo: number | undefined;
  const takeOutside = (): readonly (ResourceKey | typeof RESCAN)[] => {
    if (!proxies.isLoaded) return NO_KEYS;
    const { next, owners } = proxies.changesSince(readUpTo);
    readUpTo = next;
    return owners === 'all' ? [RESCAN] : owners;
  };
  return new KeyedLoop(new StatusReconciler({ planner: new ProxyConditionsPlanner(zone, proxies), takeOutside }));
}
