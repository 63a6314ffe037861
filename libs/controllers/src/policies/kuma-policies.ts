/** Knows of which policies zones of Kuma are told (docs/reference/kuma-interop.md, Policies in zones of Kuma). */
export interface KumaPolicies {
  /**
   * Why they are not told of all that a policy says: empty where they are, or where it takes effect nowhere there; undefined where that
   * is not known yet. `key`: of the policy, by `identityKey`.
   */
  reasonOf(key: string): string | undefined;
  /** Keys of the policies of which `reasonOf` says something else since the call before. */
  takeSaid(): readonly string[];
}
