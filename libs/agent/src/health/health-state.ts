/** Number of equal results before a check counts. */
export interface HealthThresholds {
  readonly healthy: number;
  readonly unhealthy: number;
}

/** Result of one check. */
export type CheckResult =
  | { readonly ok: true }
  /** `isDefinite`: nothing listens where the service is. No further check is waited for. */
  | { readonly ok: false; readonly reason: string; readonly isDefinite: boolean };

/** Whether a service is ready, and what is needed to decide that anew. */
export interface HealthState {
  readonly ready: boolean;
  /** Why it is not ready. */
  readonly reason: string;
  /** Time of the last change of `ready`, ms. */
  readonly since: number;
  /** Checks in a row that passed, or that failed. */
  readonly passed: number;
  readonly failed: number;
  /** Penalty for recent failures: halves every 30 s. */
  readonly penalty: number;
  /** Time at which `penalty` was computed, ms. */
  readonly penaltyAt: number;
  /** It flaps: it stays down until the penalty has fallen. */
  readonly isDamped: boolean;
}

const HALF_LIFE = 30_000;
/** Above this much a service is damped, until it is below the other. */
const DAMP_ABOVE = 3;
const REUSE_BELOW = 1.5;
/** So damping ends 60 s after the last fall at the latest. */
const MAX_PENALTY = 6;

/** Returns the state of a service before its first check: not ready. */
export function initialHealth(now: number): HealthState {
  const counts = { passed: 0, failed: 0, penalty: 0, penaltyAt: now, isDamped: false };
  return { ready: false, reason: 'not checked yet', since: now, ...counts };
}

/**
 * The state after one more check. A service gets ready after `healthy` checks in a row that pass, and stops being so after `unhealthy` that
 * fail, or a definite failure. One that falls more than three times within about half a minute is damped: it stays down until it
 * has stood still for up to a minute.
 */
export function nextHealth(
  state: HealthState,
  result: CheckResult,
  { healthy, unhealthy }: HealthThresholds,
  now: number,
): HealthState {
  const decayed = decay(state, now);
  if (!result.ok) {
    const failed = decayed.failed + 1;
    const counted = { ...decayed, passed: 0, failed };
    if (!decayed.ready) return { ...counted, reason: result.reason };
    if (!result.isDefinite && failed < unhealthy) return counted;
    const penalty = Math.min(MAX_PENALTY, decayed.penalty + 1);
    const isDamped = decayed.isDamped || penalty > DAMP_ABOVE;
    return { ...counted, ready: false, reason: result.reason, since: now, penalty, isDamped };
  }
  const passed = decayed.passed + 1;
  const counted = { ...decayed, passed, failed: 0 };
  if (decayed.ready || passed < healthy) return counted;
  if (decayed.isDamped) return { ...counted, reason: DAMPED };
  return { ...counted, ready: true, reason: '', since: now };
}

const DAMPED = 'it was up and down too often: kept down until it has been up for a while';

function decay(state: HealthState, now: number): HealthState {
  const passed = Math.max(0, now - state.penaltyAt);
  const penalty = state.penalty * 0.5 ** (passed / HALF_LIFE);
  return { ...state, penalty, penaltyAt: now, isDamped: state.isDamped && penalty >= REUSE_BELOW };
}
