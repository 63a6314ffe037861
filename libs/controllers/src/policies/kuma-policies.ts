import type { ResourceKey } from '@causeway/resources';
/** Reports which policies are translated completely for zones of Kuma (docs/reference/kuma-interop.md, Policies in zones of Kuma). */
export interface KumaPolicies {
  /**
   * Returns why a policy is not translated completely: empty if it is, or if it takes effect nowhere there; undefined if unknown. `key`: of the
   * policy, by `identityKey`.
   */
  findReason(key: string): string | undefined;
  /** Returns the keys of the policies whose `findReason` changed since the last call. */
  takeChangedReasons(): readonly ResourceKey[];
}
