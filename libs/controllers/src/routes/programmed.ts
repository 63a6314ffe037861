import { SyncCondition } from '@causeway/sync';
import { isJsonObject, type Condition, type JsonObject, type JsonValue } from '@causeway/resources';
import { namesOf, type ResourceProgress } from '../progress/progress';

/** The condition that every connected proxy to whom a route applies has applied it, up to `observedGeneration`. */
export const PROGRAMMED = 'Programmed';

/** Why a route is not obeyed by proxies that cannot. */
export const NOT_SUPPORTED = 'NotSupported';

/**
 * What `Programmed` says of a route of this generation at one parent. It is True only where at least one proxy is connected and all
 * have applied the route.
 */
export function programmedCondition(progress: ResourceProgress, observedGeneration: number): Condition {
  const { proxies, unable, zones, isPartial } = progress;
  const of = { type: PROGRAMMED, observedGeneration, message: describe(progress) };
  if (unable.total > 0) return { ...of, status: 'False', reason: NOT_SUPPORTED };
  if (zones && zones.acked < zones.total) return { ...of, status: 'False', reason: 'Pending' };
  if (proxies.total === 0 && isPartial !== true) return { ...of, status: 'Unknown', reason: 'NoProxies' };
  return proxies.acked < proxies.total
    ? { ...of, status: 'False', reason: 'Pending' }
    : { ...of, status: 'True', reason: PROGRAMMED };
}

/** Why a route is not obeyed at a Gateway. */
export const NO_GATEWAY = 'NoGateway';

/** At a Gateway: routes that name one are judged, and nobody obeys them. */
export function withoutGateway(observedGeneration: number): Condition {
  const message = 'no gateway is run: the route is judged and not obeyed';
  return { type: PROGRAMMED, status: 'False', reason: NO_GATEWAY, message, observedGeneration };
}

/** The condition that zones of Kuma are not told of a route; absent where there are none. */
export const UNSUPPORTED_BY_KUMA = SyncCondition.unsupportedByKuma;

/** `zones`: the names of the zones of Kuma, sorted; `why` they are not told, where that is known. */
export function unsupportedByKuma(zones: readonly string[], observedGeneration: number, why?: string): Condition {
  const who = namesOf({ acked: 0, total: zones.length, waitingFor: zones });
  const because = why === undefined ? '' : `; ${why}`;
  const message = `zones of Kuma are not told of it, and their proxies do not obey it: ${who}${because}`;
  return { type: UNSUPPORTED_BY_KUMA, status: 'True', reason: 'NotExpressible', message, observedGeneration };
}

/** Whether it is written of this generation that all have applied it. */
export function isProgrammed(stored: JsonObject | undefined, generation: number): boolean {
  return stored?.['status'] === 'True' && stored['observedGeneration'] === generation;
}

/** A stored condition as it can be written again; undefined where it is none. */
export function asCondition(stored: JsonValue | undefined): Condition | undefined {
  if (!isJsonObject(stored)) return undefined;
  const { type, status, reason, message, observedGeneration } = stored;
  if (typeof type !== 'string' || typeof reason !== 'string' || typeof message !== 'string') return undefined;
  if (status !== 'True' && status !== 'False' && status !== 'Unknown') return undefined;
  return typeof observedGeneration === 'number' ? { type, status, reason, message, observedGeneration } : undefined;
}

function describe({ proxies, unable, zones, isPartial }: ResourceProgress): string {
  const counts = [
    ...(isPartial ? [] : [`${proxies.acked} of ${proxies.total} proxies`]),
    ...(zones ? [`${zones.acked} of ${zones.total} zones`] : []),
  ].join(', ');
  return [
    `applied by ${counts}`,
    ...(proxies.acked < proxies.total ? [`waiting for ${namesOf(proxies)}`] : []),
    ...(zones && zones.acked < zones.total ? [`waiting for ${namesOf(zones)}`] : []),
    ...(unable.total > 0 ? [`${namesOf(unable, unable.total)} cannot obey it`] : []),
  ].join('; ');
}
