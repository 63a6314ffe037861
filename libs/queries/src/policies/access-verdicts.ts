import type { AccessVerdict } from '@causeway/api';
import {
  AccessPolicy,
  evaluateCall,
  type AccessRequest,
  type CallResult,
  type InboundAccess,
  type PolicyTable,
} from '@causeway/policies';
import { type Identity, parseIdentityKey } from '@causeway/resources';
import type { RequestQuestion } from '../request-question';
import { accessMessage } from './access-messages';
import type { Backend } from './request-backends';

/** An instance of a service, and the access decision inputs of its proxy. */
interface AccessInstance extends InboundAccess {
  /** For each of `rules`: the ports of services whose AccessPolicies they are. */
  readonly behind: readonly (readonly Omit<Backend, 'request'>[])[];
  /** Why it cannot be evaluated. */
  readonly unjudged?: string;
}

/** Source of access rules: in a zone, for its own Dataplanes and services. */
export interface AccessFacts {
  /** Returns the SPIFFE ids that a Dataplane presents; none without an identity, undefined if it does not exist. */
  idsOf(dataplane: Identity): readonly string[] | undefined;
  /** Returns the instances of a port of a service; `pending` while their access rules are not known. */
  instancesOf(of: { readonly service: Identity; readonly port: number }): readonly AccessInstance[] | 'pending';
}

/** Caller in a question, as far as it is given. */
export type AskedCaller =
  | { readonly ids: readonly string[] }
  /** Why it cannot be decided. */
  | { readonly unknown: string };

type EvaluatedCall = Pick<AccessVerdict, 'verdict' | 'caller' | 'policies'> & {
  readonly by: string;
  readonly seesBytes: boolean;
};

interface AccessSources {
  /** Zone whose view is requested. */
  readonly zone: string;
  readonly facts: AccessFacts;
  readonly table: Pick<PolicyTable, 'effectiveOfBackend'>;
}

/**
 * Evaluates access per backend. Access is decided before an instance is selected, so the result is that of the instances'
 * proxies: one per backend, or one per group of instances that decide alike. Linear in the instances that `facts` returns.
 */
export function evaluateAccess(
  { service, port, request }: Backend,
  caller: AskedCaller,
  { zone, facts, table }: AccessSources,
): readonly AccessVerdict[] {
  const { kind, zone: of, namespace, name } = service;
  const backend = { service: { kind, zone: of, namespace, name }, port };
  const unknown = (message: string): AccessVerdict => ({ backend, verdict: 'unknown', policies: [], message });
  if (kind !== 'MeshService') return [unknown(`a ${kind} has no instances here whose AccessPolicies could be judged`)];
  if (of !== zone) return [unknown(`zone ${of || 'of the global'} decides who may call its services: ask it`)];
  const instances = facts.instancesOf({ service, port });
  if (instances === 'pending') return [unknown('who may call is not known here yet; its proxies let in whom they did')];
  if (instances.length === 0) return [unknown('it has no instances that could let a caller in')];
  const groups = new Map<string, { readonly result: EvaluatedCall | string; count: number }>();
  for (const instance of instances) {
    const result = evaluateInstance(instance, caller, request, table);
    const key = JSON.stringify(result);
    const group = groups.get(key) ?? { result, count: 0 };
    group.count += 1;
    groups.set(key, group);
  }
  return [...groups.values()].map(({ result, count }) => {
    const part = groups.size > 1 ? { instances: count } : {};
    if (typeof result === 'string') return { ...unknown(result), ...part };
    const { seesBytes: _, ...answer } = result;
    return { backend, ...answer, message: accessMessage(result), ...part };
  });
}

/** Returns the decision of one instance, or why there is none. */
function evaluateInstance(
  instance: AccessInstance,
  caller: AskedCaller,
  request: AccessRequest | undefined,
  table: AccessSources['table'],
): EvaluatedCall | string {
  if (instance.unjudged !== undefined) return instance.unjudged;
  if ('unknown' in caller) {
    const isAlike = instance.rules.length === 0 && (instance.callers === 'anyone' || instance.callers.length === 0);
    if (!isAlike) return caller.unknown;
    const verdict = instance.callers === 'anyone' ? 'allowed' : 'refused';
    return { verdict, by: 'defaultAccess', policies: [], seesBytes: false };
  }
  const ids = caller.ids.length === 0 ? [undefined] : caller.ids;
  const [first, ...others] = ids.map((id) => toVerdict(instance, id, request, table));
  if (!first || others.some(({ verdict }) => verdict !== first.verdict)) {
    return `the caller shows several identities (${ids.join(', ')}), about which different things are said`;
  }
  return first;
}

function toVerdict(
  instance: AccessInstance,
  caller: string | undefined,
  request: AccessRequest | undefined,
  table: AccessSources['table'],
): EvaluatedCall {
  const { isAllowed, by }: CallResult = evaluateCall(instance, caller, request);
  const { rules, behind, seesRequests } = instance;
  const policies = by.flatMap(({ rules: of, what }) => {
    const those = of === undefined ? (what === 'identity' ? behind.flat() : []) : (behind[of] ?? []);
    return those.flatMap((port) => listDecidingPolicies(what, port, table));
  });
  const namesRequests = rules.some(({ deny, allow = [] }) => [...deny, ...allow].some(({ to }) => to));
  return {
    verdict: isAllowed ? 'allowed' : 'refused',
    by: [...new Set(by.map(({ what }) => what))].join(', '),
    policies: [...new Set(policies)].sort(),
    seesBytes: request !== undefined && !seesRequests && namesRequests,
    ...(caller === undefined ? {} : { caller }),
  };
}

/** Returns the policies of the rule that decided; for `allow` those that have one, for `path` and `identity` all. */
function listDecidingPolicies(
  what: string,
  at: { readonly service: Identity; readonly port: number },
  table: AccessSources['table'],
): readonly string[] {
  if (what === 'defaultAccess') return [];
  const field = what === 'path' || what === 'identity' ? '' : `/${what}`;
  return [...(table.effectiveOfBackend(AccessPolicy.kind, at)?.sources ?? [])].flatMap(([pointer, { policy }]) => {
    const { namespace, name } = parseIdentityKey(policy);
    return pointer === field || pointer.startsWith(`${field}/`) ? [`${namespace}/${name}`] : [];
  });
}

/** Returns the known ids of the sender of a request. */
export function identifyCaller(
  facts: AccessFacts,
  { mesh, zone }: { readonly mesh: string; readonly zone: string },
  { client, dataplane, spiffeId }: Pick<RequestQuestion, 'client' | 'dataplane' | 'spiffeId'>,
): AskedCaller {
  if (spiffeId !== undefined) return { ids: [spiffeId] };
  if ('gateway' in client) return { unknown: 'it is not known which identity the proxies of a Gateway show' };
  if (!dataplane) {
    const how = 'name the Dataplane that calls (from.dataplane), or the identity that it shows (from.spiffeId)';
    return { unknown: `it depends on who of namespace ${client.namespace} calls: ${how}` };
  }
  const ids = facts.idsOf({ kind: 'Dataplane', mesh, zone, ...dataplane });
  return ids ? { ids } : { unknown: `Dataplane ${dataplane.namespace}/${dataplane.name} is not known here` };
}
