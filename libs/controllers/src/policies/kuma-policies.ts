import type { ResourceKey } from '@causeway/resources';
/** Knows which policies are sent to zones of Kuma in full (docs/reference/kuma-interop.md, Policies in zones of Kuma). */
export interface KumaPolicies {
  /**
   * Returns why a policy is not sent in full: empty if it is, or if it takes effect nowhere there; undefined if that is not known yet.
   * `key`: of the policy, by `identityKey`.
   */
  findReason(key: string): string | undefined;
  /** Returns the keys of the policies whose `findReason` has changed since the call before. */
  takeSaid(): readonly ResourceKey[];
}
