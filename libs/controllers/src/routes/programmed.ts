import { SyncCondition } from '@causeway/sync';
import { isJsonObject, type Condition, type JsonObject, type JsonValue } from '@causeway/resources';
import type { ApplyProgress } from '../progress/apply-progress';
import { formatAllUnsupported, formatApplied, formatNames } from '../progress/progress-text';

/** The condition that every connected proxy to whom a route applies has applied it, up to `observedGeneration`. */
export const PROGRAMMED = 'Programmed';

/** The reason where connected proxies do not support a route. */
export const NOT_SUPPORTED = 'NotSupported';

/**
 * Returns the condition `Programmed` of a route of this generation at one parent. It is True only where at least one proxy is connected
 * and all have applied the route.
 */
export function programmedCondition(progress: ApplyProgress, observedGeneration: number): Condition {
  const { proxies, unsupported, zones, isPartial } = progress;
  const applied = formatApplied(progress);
  const message = unsupported.total > 0 ? `${applied}; ${formatAllUnsupported(unsupported)} cannot apply it` : applied;
  const of = { type: PROGRAMMED, observedGeneration, message };
  if (unsupported.total > 0) return { ...of, status: 'False', reason: NOT_SUPPORTED };
  if (zones && zones.acked < zones.total) return { ...of, status: 'False', reason: 'Pending' };
  if (proxies.total === 0 && isPartial !== true) return { ...of, status: 'Unknown', reason: 'NoProxies' };
  return proxies.acked < proxies.total
    ? { ...of, status: 'False', reason: 'Pending' }
    : { ...of, status: 'True', reason: PROGRAMMED };
}

/** The reason at a Gateway: none is run. */
export const NO_GATEWAY = 'NoGateway';

/** Returns the condition at a Gateway: routes that name one are evaluated, and no proxy applies them. */
export function withoutGateway(observedGeneration: number): Condition {
  const message = 'no gateway is run: the route is evaluated and not applied';
  return { type: PROGRAMMED, status: 'False', reason: NO_GATEWAY, message, observedGeneration };
}

/** The condition that zones of Kuma are not sent a route; absent where there are no such zones. */
export const UNSUPPORTED_BY_KUMA = SyncCondition.unsupportedByKuma;

/** Returns the condition for the zones of Kuma, named and sorted; `why` they are not sent the route, where that is known. */
export function unsupportedByKuma(zones: readonly string[], observedGeneration: number, why?: string): Condition {
  const who = formatNames(zones, zones.length);
  const because = why === undefined ? '' : `; ${why}`;
  const message = `it is not sent to zones of Kuma, and their proxies do not apply it: ${who}${because}`;
  return { type: UNSUPPORTED_BY_KUMA, status: 'True', reason: 'NotExpressible', message, observedGeneration };
}

/** Whether the stored condition says of this generation that all have applied it. */
export function isProgrammed(stored: JsonObject | undefined, generation: number): boolean {
  return stored?.['status'] === 'True' && stored['observedGeneration'] === generation;
}

/** Returns a stored condition as it can be written again; undefined where it is none. */
export function asCondition(stored: JsonValue | undefined): Condition | undefined {
  if (!isJsonObject(stored)) return undefined;
  const { type, status, reason, message, observedGeneration } = stored;
  if (typeof type !== 'string' || typeof reason !== 'string' || typeof message !== 'string') return undefined;
  if (status !== 'True' && status !== 'False' && status !== 'Unknown') return undefined;
  return typeof observedGeneration === 'number' ? { type, status, reason, message, observedGeneration } : undefined;
}
