import { SyncCondition } from '@causeway/sync';
import { isJsonObject, type Condition, type JsonObject, type JsonValue } from '@causeway/resources';
import type { ApplyProgress } from '../progress/apply-progress';
import { formatAllUnsupported, formatApplied, formatNames } from '../progress/progress-text';

/** The condition that every connected proxy that a route applies to has applied it, up to `observedGeneration`. */
export const PROGRAMMED = 'Programmed';

/** The reason if connected proxies do not support a route. */
export const NOT_SUPPORTED = 'NotSupported';

/**
 * Returns the condition `Programmed` of a route of this generation at one parent. It is True only if at least one proxy is connected and all have
 * applied the route.
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

/** The reason at a Gateway: no gateway runs. */
export const NO_GATEWAY = 'NoGateway';

/** Returns the condition at a Gateway: such routes are evaluated, and no proxy applies them. */
export function withoutGateway(observedGeneration: number): Condition {
  const message = 'no gateway is run: the route is evaluated and not applied';
  return { type: PROGRAMMED, status: 'False', reason: NO_GATEWAY, message, observedGeneration };
}

/** The condition that a route is not translated for zones of Kuma; absent if there are no such zones. */
export const UNSUPPORTED_BY_KUMA = SyncCondition.unsupportedByKuma;

/** Returns the condition about these sorted zones of Kuma; `why`: the reason, if known. */
export function unsupportedByKuma(zones: readonly string[], observedGeneration: number, why?: string): Condition {
  const who = formatNames(zones, zones.length);
  const because = why === undefined ? '' : `; ${why}`;
  const message = `it is not sent to zones of Kuma, and their proxies do not apply it: ${who}${because}`;
  return { type: UNSUPPORTED_BY_KUMA, status: 'True', reason: 'NotExpressible', message, observedGeneration };
}

/** Reports whether the stored condition states for this generation that all proxies have applied it. */
export function isProgrammed(stored: JsonObject | undefined, generation: number): boolean {
  return stored?.['status'] === 'True' && stored['observedGeneration'] === generation;
}

/** Returns a stored condition in a form that can be written again; undefined if it is not one. */
export function asCondition(stored: JsonValue | undefined): Condition | undefined {
  if (!isJsonObject(stored)) return undefined;
  const { type, status, reason, message, observedGeneration } = stored;
  if (typeof type !== 'string' || typeof reason !== 'string' || typeof message !== 'string') return undefined;
  if (status !== 'True' && status !== 'False' && status !== 'Unknown') return undefined;
  return typeof observedGeneration === 'number' ? { type, status, reason, message, observedGeneration } : undefined;
}
