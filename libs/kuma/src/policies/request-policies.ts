import { RetryPolicy, TimeoutPolicy, type ShippedPolicy } from '@causeway/policies';
import { jsonEqual, type Identity, type JsonObject, type ResourceKey } from '@causeway/resources';
import {
  PRODUCER,
  type Frontend,
  type RouteRule,
  type BindingTable,
  type FrontendGroup,
  consumerGroup,
  consumerOfGroup,
} from '@causeway/routing';
import type { Static, TSchema } from 'typebox';
import { retryConf, type RuleSpecs, type TranslatedConf } from './mesh-retry';
import { timeoutConf } from './mesh-timeout';

/** An effective policy: its spec, and by JSON pointer the key of the policy that set each value. */
export interface EffectiveKumaPolicy {
  readonly spec: JsonObject;
  readonly sources: ReadonlyMap<string, { readonly policy: ResourceKey }>;
}

/** The target of a client's request: a rule of a route, or a service without routes. */
export interface KumaRuleTarget {
  readonly frontend: Identity;
  readonly port: number;
  readonly group: FrontendGroup;
  readonly route?: Identity;
  readonly rule?: string;
}

/** The effective policies that are translated for zones of Kuma: a PolicyTable. */
export interface EffectiveKumaPolicies {
  effectiveOfRule(kind: string, at: KumaRuleTarget): EffectiveKumaPolicy | undefined;
  effectiveOfBackend(
    kind: string,
    at: { readonly service: Identity; readonly port: number },
  ): EffectiveKumaPolicy | undefined;
  /** Returns the namespaces whose clients have policies of their own at a frontend. */
  listConsumers(frontend: Identity): readonly string[];
}

/** The policies at one port in Kuma's form, or the reason why Kuma cannot express them. */
export interface TranslatedPort {
  readonly port: number;
  /** The keys of the policies that apply there. */
  readonly policies: readonly ResourceKey[];
  readonly conf: TranslatedConf;
}

/** The translation of a frontend's ports to each kind of Kuma. Ports without policies are left out. */
export interface TranslatedRequests {
  readonly MeshTimeout: readonly TranslatedPort[];
  readonly MeshRetry: readonly TranslatedPort[];
}

export interface RequestSources {
  readonly table: BindingTable;
  readonly policies: EffectiveKumaPolicies;
  /** Returns the `appProtocol` of a port. */
  readonly findProtocol: (port: number) => unknown;
}

const HTTP: readonly unknown[] = ['http', 'http2', 'grpc'];

/**
 * Translates the policies on requests at each port of a service to Kuma 2.14. Kuma has one policy for each port and all callers: if rules or
 * namespaces of callers differ, nothing is sent. Linear in ports × rules.
 */
export function translateRequests(frontend: Frontend, sources: RequestSources): TranslatedRequests {
  const timeouts: TranslatedPort[] = [];
  const retries: TranslatedPort[] = [];
  for (const { port } of frontend.ports) {
    // Policies on requests have no effect on TCP, in Kuma and here.
    if (!HTTP.includes(sources.findProtocol(port))) continue;
    const places = [...placesAt(frontend, port, sources)];
    const retry = agreed(places, (place) => own(place) ?? retryConf(place.specs, sources.findProtocol(port)));
    const isRetrySent = retry.ok && retry.conf !== undefined;
    const timeout = agreed(places, (place) => own(place) ?? timeoutConf(place.specs, isRetrySent));
    keep(retries, { port, policies: listSources(places, 'retry'), conf: retry });
    keep(timeouts, { port, policies: listSources(places, 'timeout'), conf: timeout });
  }
  return { MeshTimeout: timeouts, MeshRetry: retries };
}

function keep(ports: TranslatedPort[], port: TranslatedPort): void {
  if (port.policies.length > 0) ports.push(port);
}

/** One rule at a port, or the service without routes, for the callers of a group. */
interface TranslatedTarget {
  readonly specs: RuleSpecs;
  readonly sources: { readonly timeout: readonly ResourceKey[]; readonly retry: readonly ResourceKey[] };
  readonly rule?: { readonly name: string; readonly timeouts: RouteRule['timeouts'] };
}

const NOTHING: TranslatedTarget = { specs: {}, sources: { timeout: [], retry: [] } };

function* placesAt(frontend: Frontend, port: number, { table, policies }: RequestSources): Generator<TranslatedTarget> {
  const { id } = frontend;
  const borrowing = policies.listConsumers(id).map((namespace) => consumerGroup(namespace));
  const own = table.listGroups(frontend).filter((group) => consumerOfGroup(group) !== undefined);
  for (const group of new Set<FrontendGroup>([PRODUCER, ...borrowing, ...own])) {
    const isBorrowing = borrowing.includes(group);
    const lent = isBorrowing ? findRules(table, frontend, port, PRODUCER) : undefined;
    const rules = findRules(table, frontend, port, group) ?? lent;
    if (!rules && (isBorrowing || group === PRODUCER)) yield computePlace(policies, { frontend: id, port, group });
    for (const each of rules ?? []) {
      if (each === 'bytes') yield NOTHING;
      else {
        const at = { frontend: id, port, group, route: each.route, rule: each.name };
        yield { ...computePlace(policies, at), rule: { name: each.name, timeouts: each.timeouts } };
      }
    }
  }
}

interface TranslatedRule {
  readonly route: Identity;
  readonly name: string;
  readonly timeouts: RouteRule['timeouts'];
}

/** Returns the rules of the global's routes; routes of other zones apply there only. Undefined if there are none. */
function findRules(
  table: BindingTable,
  frontend: Frontend,
  port: number,
  group: FrontendGroup,
): readonly (TranslatedRule | 'bytes')[] | undefined {
  const all = [...table.group(frontend, group).bindings.values()];
  const binding = all.find((one) => one.port === port && one.kind !== 'UDPRoute');
  const routes = binding?.routes.filter(({ id }) => id.zone === '') ?? [];
  if (!binding || routes.length === 0) return undefined;
  if (binding.kind !== 'HTTPRoute' && binding.kind !== 'GRPCRoute') return ['bytes'];
  return routes.flatMap(({ id, rules }) =>
    rules.map(({ name, rule }) => ({ route: id, name, timeouts: rule.timeouts })),
  );
}

function computePlace(policies: EffectiveKumaPolicies, at: KumaRuleTarget): TranslatedTarget {
  const [timeout, retry] = [read(policies, TimeoutPolicy, at), read(policies, RetryPolicy, at)];
  return {
    specs: { timeout: timeout.spec, retry: retry.spec },
    sources: { timeout: timeout.sources, retry: retry.sources },
  };
}

/** A spec that its kind rejects, from a newer zone, has no effect, as in proxies. */
function read<S extends TSchema>(
  policies: EffectiveKumaPolicies,
  kind: ShippedPolicy<S>,
  at: KumaRuleTarget,
): { readonly spec?: Static<S> | undefined; readonly sources: readonly ResourceKey[] } {
  const found = policies.effectiveOfRule(kind.kind, at);
  if (!found) return { sources: [] };
  return {
    spec: kind.read(found.spec),
    sources: [...new Set([...found.sources.values()].map(({ policy }) => policy))],
  };
}

/** A rule's own timeouts override policies, and Kuma has one place for both. */
function own({ rule }: TranslatedTarget): TranslatedConf | undefined {
  const { name, timeouts } = rule ?? {};
  if (timeouts?.request === undefined && timeouts?.backendRequest === undefined) return undefined;
  return { ok: false, reason: `rule ${name} has timeouts of its own` };
}

/** Returns the common translation of all targets, if there is one. */
function agreed(
  places: readonly TranslatedTarget[],
  translate: (place: TranslatedTarget) => TranslatedConf,
): TranslatedConf {
  const all = places.map(translate);
  const refused = all.find((one) => !one.ok);
  const [first = { ok: true } as const] = all;
  if (refused) return refused;
  return all.every((one) => jsonEqual(getConf(one), getConf(first)))
    ? first
    : {
        ok: false,
        reason: 'its rules, or callers of some namespaces, have other values, and Kuma has one value for all',
      };
}

const getConf = (translated: TranslatedConf): JsonObject => (translated.ok && translated.conf) || {};

function listSources(places: readonly TranslatedTarget[], of: 'timeout' | 'retry'): readonly ResourceKey[] {
  return [...new Set(places.flatMap(({ sources }) => sources[of]))].sort();
}
