/** Number of equal consecutive results that change the state. */
export interface HealthThresholds {
  readonly healthy: number;
  readonly unhealthy: number;
}

/** Result of one check. */
export type CheckResult =
  | { readonly ok: true }
  /** `isDefinite`: nothing listens at the address, so one failure is enough. */
  | { readonly ok: false; readonly reason: string; readonly isDefinite: boolean };

/** Readiness of a service, and what the next decision depends on. */
export interface HealthState {
  readonly ready: boolean;
  /** Why it is not ready. */
  readonly reason: string;
  /** Time of the last change of `ready`, ms. */
  readonly since: number;
  /** Consecutive checks that passed or failed. */
  readonly passed: number;
  readonly failed: number;
  /** Penalty for recent failures: halves every 30 s. */
  readonly penalty: number;
  /** Time at which `penalty` was computed, ms. */
  readonly penaltyAt: number;
  /** The service flaps: it stays not ready until the penalty has decayed. */
  readonly isDamped: boolean;
}

const HALF_LIFE = 30_000;
/** A service is damped above this penalty, until its penalty is below REUSE_BELOW. */
const DAMP_ABOVE = 3;
const REUSE_BELOW = 1.5;
/** Limits damping to 60 s after the last failure. */
const MAX_PENALTY = 6;

/** Returns the state of a service before its first check: not ready. */
export function createHealthState(now: number): HealthState {
  const counts = { passed: 0, failed: 0, penalty: 0, penaltyAt: now, isDamped: false };
  return { ready: false, reason: 'not checked yet', since: now, ...counts };
}

/**
 * Returns the state after one more check. A service becomes ready after `healthy` consecutive passes, and not ready
 * after `unhealthy` consecutive failures or one definite failure. If it fails more than three times within about 30 s
 * it is damped: it stays not ready for up to a minute.
 */
export function applyCheckResult(
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
