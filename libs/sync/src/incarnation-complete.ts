/** A zone as a global that has begun a new life knows it. */
export interface AwaitedZone {
  readonly enabled: boolean;
  /** In any life of the global. */
  readonly hadSession: boolean;
  /** Its whole state has arrived in this life. */
  readonly reported: boolean;
}

/**
 * Whether a global that began this life at `since` (ms since 1970) knows as much as it can: every enabled zone that ever
 * had a session has reported, or `hold` ms have passed (design.md §5 A new life is not a deletion either).
 */
export function isIncarnationComplete(
  zones: Iterable<AwaitedZone>,
  times: { readonly since: number; readonly hold: number; readonly now: number },
): boolean {
  if (times.now - times.since >= times.hold) return true;
  return [...zones].every(({ enabled, hadSession, reported }) => !enabled || !hadSession || reported);
}
