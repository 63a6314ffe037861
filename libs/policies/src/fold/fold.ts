import type { JsonObject, ResourceKey } from '@causeway/resources';
import type { Strategy } from '../model/levels';
import type { Policy } from '../model/policy';
import { listLeaves, mergePatch, plainObject, type Branch, isBranch } from '../model/traced';

/** The policy that set a value of an effective spec, and its merge strategy. */
interface FieldSource {
  /** The key of the policy. */
  readonly policy: ResourceKey;
  readonly strategy: Strategy;
}
/** One entry for each leaf of the effective spec, by JSON pointer. */
export type FieldSources = ReadonlyMap<string, FieldSource>;

/** State of a policy among others: depends on which policy's values survive, not on whether values are equal (plan, Decisions). */
export type ScopeState = 'Enforced' | 'PartiallyEnforced' | 'Overridden';

/**
 * The merged policies of one path, the least specific first. Merging goes from the most specific policy to the least
 * specific one, so that paths with the same end share its fold; each fold is created once (specs of the seed's rows, 2.1 B).
 */
export class Fold {
  private readonly above = new WeakMap<Policy, Fold>();
  private known: { readonly spec: JsonObject; readonly sources: FieldSources } | undefined;
  private counted: ReadonlyMap<Policy, number> | undefined;

  private constructor(
    /** All policies of the path, the least specific first. */
    readonly policies: readonly Policy[],
    private readonly result: Branch<Policy>,
  ) {}

  /** Returns an empty root; a path with policies always has a fold. */
  static readonly roots = (): FoldRoot => new FoldRoot((policy) => new Fold([policy], policy.traced));

  /** Returns this fold with one more policy, which is less specific than all others, or older on the same object: its strategy decides (T004-19, -23). */
  under(policy: Policy): Fold {
    const known = this.above.get(policy);
    if (known) return known;
    const made = new Fold([policy, ...this.policies], mergePolicy(policy, this.result));
    this.above.set(policy, made);
    return made;
  }

  /** The effective spec. Computed when it is first read. */
  get spec(): JsonObject {
    return this.read().spec;
  }

  /** The source of each value. */
  get sources(): FieldSources {
    return this.read().sources;
  }

  /** Returns how many leaves of a policy of this path survive. */
  surviving(policy: Policy): number {
    if (!this.counted) {
      const counted = new Map<Policy, number>();
      for (const [, { source }] of listLeaves(this.result)) counted.set(source, (counted.get(source) ?? 0) + 1);
      this.counted = counted;
    }
    return this.counted.get(policy) ?? 0;
  }

  /** Returns the state of a policy of this path. */
  getScopeState(policy: Policy): ScopeState {
    const left = this.surviving(policy);
    return left === 0 ? 'Overridden' : left < policy.leaves ? 'PartiallyEnforced' : 'Enforced';
  }

  /** Returns the values of a policy of this path, by pointer: those that survive and those that do not. Linear in both specs. */
  getScopeFields(policy: Policy): { readonly enforced: readonly string[]; readonly superseded: readonly string[] } {
    const enforced: string[] = [];
    const superseded: string[] = [];
    const { sources } = this;
    for (const [pointer] of listLeaves(policy.traced)) {
      (sources.get(pointer)?.policy === policy.key ? enforced : superseded).push(pointer);
    }
    return { enforced, superseded };
  }

  private read(): { readonly spec: JsonObject; readonly sources: FieldSources } {
    this.known ??= {
      spec: plainObject(this.result),
      sources: new Map(
        [...listLeaves(this.result)].map(([pointer, { source }]) => [
          pointer,
          { policy: source.key, strategy: source.strategy },
        ]),
      ),
    };
    return this.known;
  }
}

/** Root of the folds of a kind. Folds of policies that left the table are released. */
export class FoldRoot {
  private readonly ends = new WeakMap<Policy, Fold>();

  constructor(private readonly begin: (policy: Policy) => Fold) {}

  /** Returns the fold of the policies of a path, the least specific first; undefined for none. Linear in the policies. */
  of(policies: readonly Policy[]): Fold | undefined {
    const last = policies.at(-1);
    if (!last) return undefined;
    let fold = this.ends.get(last);
    if (!fold) this.ends.set(last, (fold = this.begin(last)));
    for (let i = policies.length - 2; i >= 0; i -= 1) {
      const policy = policies[i];
      if (policy) fold = fold.under(policy);
    }
    return fold;
  }
}

/** Merges one policy over the result of the more specific ones (T004-25, T004-27). */
function mergePolicy(established: Policy, challenger: Branch<Policy>): Branch<Policy> {
  switch (established.strategy) {
    case 'AtomicDefaults':
      return challenger;
    case 'None':
    case 'AtomicOverrides':
      return established.traced;
    case 'PatchDefaults':
      return patched(established.traced, challenger);
    case 'PatchOverrides':
      return patched(challenger, established.traced);
  }
}

function patched(target: Branch<Policy>, patch: Branch<Policy>): Branch<Policy> {
  const merged = mergePatch(target, patch);
  return isBranch(merged) ? merged : patch;
}
