import type { JsonObject } from '@causeway/resources';

/** Why a policy does not take hold of a target (T004-02, -09, -10, -24). */
export type TargetRefusal = 'TargetNotFound' | 'Conflicted' | 'RefNotPermitted';

/** One `targetRef` of a policy as status names it, and whether the policy took hold of what it names. */
export interface AncestorVerdict {
  readonly ref: JsonObject;
  readonly refused?: { readonly reason: TargetRefusal; readonly message: string } | undefined;
}

/** What becomes of a policy in scopes in which the same policies meet. */
export interface ScopeVerdict {
  readonly state: 'Enforced' | 'PartiallyEnforced' | 'Overridden';
  /** Names of some of them, as `g1>r1>b1`; never more than 16. */
  readonly names: readonly string[];
  /** How many there are. */
  readonly count: number;
  /** Where it is partially enforced: its values that hold, and those that do not, as JSON pointers. */
  readonly enforced?: readonly string[];
  readonly superseded?: readonly string[];
  /** The policies that beat it, as `namespace/name`. */
  readonly by: readonly string[];
}

/** What the fold of all policies says of one. */
export interface PolicyVerdict {
  readonly strategy: string;
  /** Its definition refuses it; names field, rule and value. */
  readonly invalid?: string | undefined;
  readonly ancestors: readonly AncestorVerdict[];
  /** All its scopes. */
  readonly scopes: { readonly total: number; readonly enforced: number; readonly partial: number };
  /** Those in which it is not fully enforced. */
  readonly beaten: readonly ScopeVerdict[];
}

/** How much of a policy the fold leaves: 2 is all of it everywhere, 0 nothing. */
export function rankOf({ scopes: { total, enforced, partial } }: PolicyVerdict): number {
  if (enforced + partial === 0) return 0;
  return enforced === total ? 2 : 1;
}
