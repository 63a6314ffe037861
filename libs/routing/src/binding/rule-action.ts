import { goDurationMs } from '@causeway/resources';
import type { Filter, ObjectRef } from '../model';
import type { CompiledRoute, CompiledRule } from '../rules/compiled-route';
import type { RouteDestination, ResolvedBackend } from './backend';
import type { Binding } from './binding';
import type { BindingTable } from './binding-table';

/**
 * Destination of a share of a rule's requests, or the reason why it has none: the share then keeps its weight and gets
 * 500.
 */
export interface WeightedBackend {
  readonly weight: number;
  readonly to:
    { readonly ok: true; readonly destination: RouteDestination } | { readonly ok: false; readonly reason: string };
  /** Filters of this backend only, applied after those of the rule. */
  readonly filters: readonly Filter[];
}

/** Mirrors `numerator` of `denominator` requests; a destination that does not resolve gets none. */
export interface MirrorAction {
  readonly numerator: number;
  readonly denominator: number;
  readonly to: ResolvedBackend;
}

/**
 * Action of a rule on its requests, regardless of readiness. `refused` means 500, UNAVAILABLE in gRPC, a closed
 * connection in TCP and TLS. `matched` is the prefix that a path modifier replaces.
 */
export type RuleAction =
  | { readonly type: 'refused'; readonly reason: string }
  | {
      readonly type: 'redirect';
      readonly redirect: NonNullable<Filter['requestRedirect']>;
      readonly filters: readonly Filter[];
      readonly matched: string;
    }
  | ForwardAction;

/** Forwards a request to backends, by weight. */
export interface ForwardAction {
  readonly type: 'forward';
  /** At least one backend, each with a weight above 0. */
  readonly backends: readonly WeightedBackend[];
  readonly total: number;
  readonly mirrors: readonly MirrorAction[];
  readonly filters: readonly Filter[];
  readonly matched: string;
  /** Timeouts in ms; absent means none. */
  readonly requestTimeout?: number;
  readonly backendTimeout?: number;
}

/**
 * Returns the action of one rule of a binding, for all proxies and explanations. Linear in its backends and filters.
 */
export function ruleAction(
  table: BindingTable,
  { port, group }: Pick<Binding, 'port' | 'group'>,
  route: CompiledRoute,
  { rule, forbidden }: CompiledRule,
): RuleAction {
  if (forbidden !== undefined) return refused(forbidden);
  const filters = rule.filters ?? [];
  const extension = filters.find(({ type }) => type === 'ExtensionRef');
  if (extension) return refused(`filter ExtensionRef ${extension.extensionRef?.name ?? ''} is unknown`);
  const matched = rule.matches?.[0]?.path?.value ?? '/';
  const redirect = filters.find(({ requestRedirect }) => requestRedirect)?.requestRedirect;
  if (redirect) return { type: 'redirect', redirect, filters, matched };
  const leads = (ref: ObjectRef): ResolvedBackend => table.backend(route, ref, port, group);
  const backends = (rule.backendRefs ?? []).flatMap((ref): WeightedBackend[] => {
    const { weight = 1, filters: own = [] } = ref;
    if (weight <= 0) return [];
    const isExtended = own.some(({ type }) => type === 'ExtensionRef');
    const to = isExtended
      ? ({ ok: false, reason: 'filter ExtensionRef is unknown' } as const)
      : toDestination(leads(ref));
    return [{ weight, to, filters: own }];
  });
  if (backends.length === 0) return refused('the rule has no backendRefs of a weight above 0');
  const mirrors = filters.flatMap(({ requestMirror: mirror }): MirrorAction[] => {
    if (!mirror) return [];
    const { numerator, denominator = 100 } = mirror.fraction ?? { numerator: mirror.percent ?? 100 };
    return [{ numerator, denominator, to: leads(mirror.backendRef) }];
  });
  const total = backends.reduce((sum, { weight }) => sum + weight, 0);
  return { type: 'forward', backends, total, mirrors, filters, matched, ...parseTimeouts(rule.timeouts) };
}

/**
 * Returns the action of a binding of a kind without matches: the first rule of the oldest route decides for all
 * connections.
 */
export function connectionAction(table: BindingTable, binding: Binding): RuleAction {
  const [route] = binding.routes;
  const rule = route?.rules[0];
  return route && rule ? ruleAction(table, binding, route, rule) : refused('the route has no rule');
}

function toDestination(found: ResolvedBackend): WeightedBackend['to'] {
  return found.ok ? found : { ok: false, reason: `${found.unresolved.reason}: ${found.unresolved.message}` };
}

const refused = (reason: string): RuleAction => ({ type: 'refused', reason });

function parseTimeouts(timeouts: CompiledRule['rule']['timeouts']): {
  readonly requestTimeout?: number;
  readonly backendTimeout?: number;
} {
  const [request, backend] = [timeouts?.request, timeouts?.backendRequest].map((text) =>
    text === undefined ? 0 : (goDurationMs(text) ?? 0),
  );
  return { ...(request ? { requestTimeout: request } : {}), ...(backend ? { backendTimeout: backend } : {}) };
}
