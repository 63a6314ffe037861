import { jsonEqual, type JsonObject } from '@causeway/resources';
import { PRODUCER, OWN_BACKEND, type FrontendGroup } from '@causeway/routing';
import type { Fold } from '../fold/fold';
import type { Policy } from '../model/policy';
import { createContext, type Context } from '../table/contexts';
import { listApplying, type Carriers } from '../table/kind-policies';
import type { KindTable } from '../table/kind-table';
import { ChangedCarriers } from './changed-carriers';
import { foldPath, isBorrowed, pathsBelowNodes, policiesAt, type PolicyPath } from './policy-path';

/** A path whose effective spec a change would change; undefined effective spec if no policy is on it. */
export interface ChangedPath {
  readonly path: PolicyPath;
  readonly before: Fold | undefined;
  readonly after: Fold | undefined;
}

/**
 * Yields the paths whose effective spec would change if the policy `key` were deleted, or were `candidate`: each once,
 * before and after. If the policy creates or removes a view for clients of one namespace, the other side is those
 * clients' spec in the producer's view. Nothing is stored. Linear in the paths below the nodes where the policy stands
 * or would stand. Yields undefined for an unchanged path, so that the caller can stop.
 */
export function* computeImpact(
  kind: KindTable,
  key: string,
  candidate: Policy | undefined,
): Generator<ChangedPath | undefined> {
  const changed = new ChangedCarriers(kind, key, candidate);
  const now = kind.policies.attachments;
  const nodes = [...new Map([...changed.before, ...changed.after].map((node) => [node.key, node])).values()];
  const seen = new Set<string>();
  const comesOrGoes = cacheLast((context) => isBorrowed(kind, now, context) !== isBorrowed(kind, changed, context));
  for (const [carriers, other] of [[now, changed] as const, [changed, now] as const]) {
    const otherwise = new ChangedPolicies(kind, other);
    for (const path of pathsBelowNodes(kind, nodes, carriers, comesOrGoes)) {
      if (seen.has(path.key)) continue;
      seen.add(path.key);
      const [own, there] = [foldPath(kind, path), otherwise.findFold(path)];
      const [before, after] = carriers === now ? [own, there] : [there, own];
      yield isSame(before?.spec, after?.spec) ? undefined : { path, before, after };
    }
  }
}

/** Caches the last answer: consecutive paths have the same context. */
function cacheLast(ask: (context: Context) => boolean): (context: Context) => boolean {
  let last: { readonly context: Context; readonly answer: boolean } | undefined;
  return (context) => {
    if (last?.context !== context) last = { context, answer: ask(context) };
    return last.answer;
  };
}

const isSame = (a: JsonObject | undefined, b: JsonObject | undefined): boolean =>
  a === undefined || b === undefined ? a === b : jsonEqual(a, b);

/** Evaluates paths with the changed policies. */
class ChangedPolicies {
  /** For the last context: its existing paths; undefined for all. */
  private last: { readonly context: Context; readonly own: ReadonlySet<string> | undefined } | undefined;

  constructor(
    private readonly kind: KindTable,
    private readonly carriers: Carriers,
  ) {}

  findFold(path: PolicyPath): Fold | undefined {
    return foldPath(this.kind, { policies: this.listPolicies(path) });
  }

  private listPolicies(path: PolicyPath): readonly Policy[] {
    const { context, lower } = path;
    const [node] = lower;
    if (!context) {
      return node ? listApplying(this.carriers, node, { consumer: undefined }) : policiesAt(this.carriers, path, lower);
    }
    const there = this.isThere(context, path) ? context : createContext(context.frontend, this.sharedGroup);
    return policiesAt(this.carriers, there, lower, there);
  }

  /** Returns whether the context has the path. Every context has the paths that do not depend on policies. */
  private isThere(context: Context, path: PolicyPath): boolean {
    if (context.consumer === undefined) return true;
    if (this.last?.context !== context) this.last = { context, own: this.ownPaths(context) };
    const { own } = this.last;
    return own === undefined || own.has(formatLowerKey(path.lower));
  }

  private ownPaths(context: Context): ReadonlySet<string> | undefined {
    const { kind, carriers } = this;
    if (isBorrowed(kind, carriers, context)) return undefined;
    const { hierarchyPaths, targetIndex } = kind.policies;
    if (!kind.contexts.at(context.frontend.key, context.group)) return new Set();
    return new Set(hierarchyPaths.listPaths(context, targetIndex.routes, false).map(formatLowerKey));
  }

  /** The group of clients without a view of their own. */
  private get sharedGroup(): FrontendGroup {
    return this.kind.policies.hierarchyPaths.side === 'backend' ? OWN_BACKEND : PRODUCER;
  }
}

const formatLowerKey = (lower: PolicyPath['lower']): string => lower.map(({ key }) => key).join('\n');
