import { REFUSED_LEASES, type LeaderStatus } from '@causeway/runtime';
import type { Finding } from '@causeway/api';
import type { DoctorCheck } from './doctor-checks';

/** Leadership of this control plane, as one replica sees it. */
export interface LeadershipInsight {
  readonly status: LeaderStatus;
  /** The key in Redis that the replicas lock. */
  readonly lockKey: string;
  readonly leaseMs: number;
}

/** Maximum duration of a change of the leader, in leases, also without Redis. */
const MAX_LEADERLESS_LEASES = 2;

/** Returns the checks that there is a leader, and that Redis, if configured, is its witness (docs/design.md §3). */
export function leaderChecks(leadership: LeadershipInsight | undefined): readonly DoctorCheck[] {
  const findings = (): Iterable<Finding | undefined> =>
    leadership ? [nobody(leadership), lockCountsNot(leadership)] : [];
  return [{ name: 'leader', findings }];
}

function nobody(leadership: LeadershipInsight): Finding | undefined {
  const { status, lockKey, leaseMs } = leadership;
  const { leaderless = 0, refused } = status;
  if (leaderless <= MAX_LEADERLESS_LEASES * leaseMs) return undefined;
  const what = `no replica leads since ${seconds(leaderless)}`;
  if (refused === undefined)
    return {
      what,
      advice: 'see docs/guides/troubleshooting.md#causewaynoleader, and what the logs of the replicas say',
    };
  return {
    what: `${what}, and a process that does not lead holds ${lockKey} in Redis`,
    advice: freeTheKey(leadership),
  };
}

function lockCountsNot(leadership: LeadershipInsight): Finding | undefined {
  const { status, lockKey } = leadership;
  if (status.witness === 'lock') return undefined;
  const what =
    `a process that does not lead held ${lockKey} in Redis: the lease in Postgres alone decides who leads, ` +
    'and replicas of earlier versions do not lead';
  return { what, advice: freeTheKey(leadership) };
}

function freeTheKey({ lockKey, leaseMs }: LeadershipInsight): string {
  const again = seconds(REFUSED_LEASES * leaseMs);
  return (
    `see who holds it, and free it: redis-cli GET ${lockKey}, redis-cli DEL ${lockKey}; Redis counts again ${again} after ` +
    'the leader has it. To do without Redis: CAUSEWAY_LEADER_BACKEND=postgres'
  );
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
