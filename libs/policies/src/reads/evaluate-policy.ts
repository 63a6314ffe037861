import { identityKey } from '@causeway/resources';
import { listRouteBindings, consumerOfGroup } from '@causeway/routing';
import type { Fold, ScopeState } from '../fold/fold';
import type { Policy, TargetRef } from '../model/policy';
import type { FoundTarget } from '../table/attachments';
import { listApplying, upperPolicies } from '../table/kind-policies';
import type { ScopeGroup } from '../table/kind-scopes';
import type { KindTable } from '../table/kind-table';
import { meshOfNode, type Node } from '../table/nodes';
import { namesOfGroups } from './scope-names';

/** Why a policy does not attach to the target of a reference (T004-02, -09, -10, -24). */
interface TargetRefusal {
  readonly reason: 'TargetNotFound' | 'Conflicted' | 'RefNotPermitted';
  readonly message: string;
}

/** One target reference of a policy, and whether the policy attached to anything. */
interface AncestorResult {
  readonly ref: TargetRef;
  readonly refused?: TargetRefusal;
}

/** State of a policy in the scopes in which it meets the same other policies. */
export interface ScopeResult {
  readonly state: ScopeState;
  /** Number of these scopes. */
  readonly count: number;
  /** Names of some of them, as `g1>r1>b1`; at most 16 over all results. */
  readonly names: readonly string[];
  /** JSON pointers of its values that are in force there, and of those that are not. */
  readonly enforced: readonly string[];
  readonly superseded: readonly string[];
  /** The policies that override it, as `namespace/name`. */
  readonly by: readonly string[];
}

/** Callers whose proxies enforce a client-side policy: those of all namespaces, or of its own. */
export type CallerScope = 'all' | 'own';

/** Evaluation of one policy among all others. */
export interface PolicyEvaluation {
  readonly policy: Policy;
  readonly ancestors: readonly AncestorResult[];
  readonly scopes: { readonly total: number; readonly enforced: number; readonly partial: number };
  /** Scopes in which it is not fully enforced. */
  readonly beaten: readonly ScopeResult[];
}

/** Maximum number of named scopes of an evaluation (T004-32). */
export const MAX_SCOPES = 16;

/** Scopes in which the same policies meet. */
interface CountedScopes {
  readonly fold: Fold;
  readonly count: number;
  /** The group, or a name for all groups together. */
  readonly from: ScopeGroup | string;
}

/**
 * Evaluates a policy (T004-44 to -50); undefined if the table has none with this key. Linear in the Namespaces and in
 * the different sets of policies that it meets; if it is overridden, also in the services with policies of their own.
 */
export function evaluatePolicy(kind: KindTable, key: string): PolicyEvaluation | undefined {
  const attached = kind.policies.attachments.get(key);
  if (!attached) return undefined;
  const { policy, targets } = attached;
  const ancestors = targets.map((target) => evaluateAncestor(kind, policy, target));
  const scopes = { total: 0, enforced: 0, partial: 0 };
  const beaten: (Omit<ScopeResult, 'names'> & Pick<CountedScopes, 'from'>)[] = [];
  for (const { fold, count, from } of countScopes(kind, policy)) {
    const state = fold.getScopeState(policy);
    scopes.total += count;
    if (state === 'Enforced') scopes.enforced += count;
    else {
      if (state === 'PartiallyEnforced') scopes.partial += count;
      beaten.push({ state, count, from, ...fold.getScopeFields(policy), by: listWinners(policy, fold) });
    }
  }
  const groups = new Set(beaten.flatMap(({ from }) => (typeof from === 'string' ? [] : [from])));
  const names = namesOfGroups(kind, groups, MAX_SCOPES);
  const named = beaten.map(({ from, ...result }): ScopeResult => {
    return { ...result, names: typeof from === 'string' ? [from] : (names.get(from) ?? []) };
  });
  return { policy, ancestors, scopes, beaten: named };
}

/** Returns whether any value of a policy is in force anywhere. Stops at the first. */
export function hasEffect(kind: KindTable, policy: Policy): boolean {
  for (const { fold } of countScopes(kind, policy)) if (fold.surviving(policy) > 0) return true;
  return false;
}

/**
 * Returns the callers whose proxies enforce a client-side policy. A policy that only affects consumers' routes is
 * enforced for callers of its namespace.
 */
export function findCallers(kind: KindTable, policy: Policy): CallerScope {
  const { routes } = kind.policies.targetIndex;
  const isOwn = ({ level, namespace, id }: Node): boolean => {
    if (level === 'Route' || level === 'Rule') {
      const route = id && routes.route(identityKey(id));
      if (!route || namespace !== policy.id.namespace) return route !== undefined;
      return [...listRouteBindings(routes, route).bound].every(
        ({ binding }) => consumerOfGroup(binding.group) !== undefined,
      );
    }
    const isAbove = level === 'Mesh' || level === 'Namespace' || level === 'Virtual';
    return !isAbove && namespace !== policy.id.namespace;
  };
  return kind.policies.attachments.listNodes(policy.key).every(isOwn) ? 'own' : 'all';
}

/** Yields all scopes of a policy, grouped by the policies that meet there. */
function* countScopes(kind: KindTable, policy: Policy): Generator<CountedScopes> {
  const { policies, scopes, contexts } = kind;
  const seen = new Set<ScopeGroup>();
  function* ofGroup(group: ScopeGroup): Generator<CountedScopes> {
    if (seen.has(group)) return;
    seen.add(group);
    const lower = group.lower.flatMap((key) => policies.attachments.get(key)?.policy ?? []);
    const fold = policies.folds.of([...upperPolicies(policies.attachments, group), ...lower]);
    if (fold?.policies.includes(policy)) yield { fold, count: group.paths, from: group };
  }
  function* ofPlace(mesh: string, namespace: string, count: number, name: string): Generator<CountedScopes> {
    const fold = count > 0 ? policies.folds.of(upperPolicies(policies.attachments, { mesh, namespace })) : undefined;
    if (fold?.policies.includes(policy)) yield { fold, count, from: name };
  }
  for (const node of policies.attachments.listNodes(policy.key)) {
    if (node.level === 'Virtual') {
      const on = listApplying(policies.attachments, node, { consumer: undefined });
      const fold = on.includes(policy) ? policies.folds.of(on) : undefined;
      if (fold) yield { fold, count: 1, from: node.id?.name ?? '' };
      continue;
    }
    if (node.level !== 'Mesh' && node.level !== 'Namespace') continue;
    const mesh = meshOfNode(node);
    const below = node.level === 'Namespace' ? [node.namespace] : undefined;
    if (policies.hierarchyPaths.side === 'place') {
      const places = policies.hierarchyPaths.has('Namespace')
        ? (below ?? policies.targetIndex.objects.listNamespaces(mesh))
        : [''];
      for (const namespace of places) yield* ofPlace(mesh, namespace, 1, namespace || mesh);
      continue;
    }
    const all = new Set(below ?? [...contexts.countsBelow(mesh).keys(), ...scopes.listNamespaces(mesh)]);
    for (const namespace of all) {
      const plain = scopes.plain(mesh, namespace);
      yield* ofPlace(mesh, namespace, plain, `all others of namespace ${namespace}`);
      for (const group of scopes.below(mesh, namespace)) yield* ofGroup(group);
    }
  }
  for (const group of scopes.listGroups(policy.key)) yield* ofGroup(group);
}

/** Returns the policies that override values of a policy, sorted by name. */
function listWinners(policy: Policy, fold: Fold): readonly string[] {
  const { superseded } = fold.getScopeFields(policy);
  const direct = superseded.flatMap((pointer) => fold.sources.get(pointer)?.policy ?? []);
  const others = direct.length === superseded.length ? direct : [...fold.sources.values()].map((one) => one.policy);
  const keys = new Set(others);
  const winners = fold.policies.filter(({ key }) => keys.has(key) && key !== policy.key);
  return winners.map(({ id }) => `${id.namespace}/${id.name}`).sort();
}

function evaluateAncestor(kind: KindTable, policy: Policy, { ref, permitted, found }: FoundTarget): AncestorResult {
  const name = describeRef(ref);
  if (!permitted) {
    const message = `no ReferenceGrant of namespace ${ref.namespace} lets it name ${name}`;
    return { ref, refused: { reason: 'RefNotPermitted', message } };
  }
  const nodes = [...found.values()].flat();
  const [first] = nodes;
  if (!first) return { ref, refused: { reason: 'TargetNotFound', message: `${name} does not exist` } };
  if (!kind.definition.strategies.includes('None')) return { ref };
  const { attachments } = kind.policies;
  const isHeld = nodes.some((node) => attachments.at(node.key)[0]?.key === policy.key);
  const winner = attachments.at(first.key)[0]?.id;
  if (isHeld || !winner) return { ref };
  const message = `${name} has the older ${winner.namespace}/${winner.name}`;
  return { ref, refused: { reason: 'Conflicted', message } };
}

/** Describes a reference for messages. */
function describeRef({ kind, namespace, name, sectionName }: TargetRef): string {
  const place = namespace === '' ? '' : `${namespace}/`;
  const what = name === undefined ? `${kind} of ${place}* that is selected` : `${kind} ${place}${name}`;
  return sectionName === undefined ? what : `${what}, section ${sectionName},`;
}
