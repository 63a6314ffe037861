import { SyncCondition } from '@causeway/sync';
import { isJsonObject, shortened, type Condition, type JsonObject, type JsonValue } from '@causeway/resources';

/** The condition that every connected proxy to whom a route applies has applied it, up to `observedGeneration`. */
export const PROGRAMMED = 'Programmed';

/** How many have applied a route, of how many that should, and the first of the others by name. */
export interface Progress {
  readonly acked: number;
  readonly total: number;
  readonly waitingFor: readonly string[];
}

/** Who has applied a route at one of its parents. */
export interface RouteProgress {
  /** Connected proxies of the callers to whom the route applies; those that cannot obey it are counted in `unable` alone. */
  readonly proxies: Progress;
  /** Connected proxies that cannot obey a route of this kind, with what they are. */
  readonly unable: Progress;
  /** Of a route of the global: the zones whose proxies have all applied it. */
  readonly zones?: Progress;
  /** The proxies of some zones are not counted. */
  readonly isPartial?: boolean;
}

/** Why a route is not obeyed by proxies that cannot. */
export const NOT_SUPPORTED = 'NotSupported';

const MOST_NAMED = 3;
const LONGEST_NAME = 100;

/**
 * What `Programmed` says of a route of this generation at one parent. It is True only where at least one proxy is connected and all
 * have applied the route.
 */
export function programmedCondition(progress: RouteProgress, observedGeneration: number): Condition {
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
  const who = names({ acked: 0, total: zones.length, waitingFor: zones });
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

function describe({ proxies, unable, zones, isPartial }: RouteProgress): string {
  const counts = [
    ...(isPartial ? [] : [`${proxies.acked} of ${proxies.total} proxies`]),
    ...(zones ? [`${zones.acked} of ${zones.total} zones`] : []),
  ].join(', ');
  return [
    `applied by ${counts}`,
    ...(proxies.acked < proxies.total ? [`waiting for ${names(proxies)}`] : []),
    ...(zones && zones.acked < zones.total ? [`waiting for ${names(zones)}`] : []),
    ...(unable.total > 0 ? [`${names(unable, unable.total)} cannot obey it`] : []),
  ].join('; ');
}

function names({ waitingFor, acked, total }: Progress, all = total - acked): string {
  const shown = waitingFor.slice(0, MOST_NAMED).map((name) => shortened(name, LONGEST_NAME, '…'));
  if (shown.length === 0) return `${all} of them`;
  return all > shown.length ? `${shown.join(', ')} and ${all - shown.length} more` : shown.join(', ');
}
