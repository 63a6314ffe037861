import type { Rejection, PendingIncarnation } from '@causeway/sync';
import type { JsonObject } from '@causeway/resources';

/** Progress of one kind on one stream. Revisions are of the sender's store, times are ms since 1970. */
export interface KindReport {
  readonly kind: string;
  /** `down`: from the global to the zone. */
  readonly direction: 'down' | 'up';
  /** Only in the report of a sender. */
  readonly offered?: number;
  readonly acked?: number;
  /** Resources sent since the stream began. */
  readonly sent?: number;
  /** Only in the report of a receiver; 0 for peers that name no revisions. */
  readonly applied?: number;
  readonly appliedAt?: number;
  /** Resources that are not sent or not acknowledged yet. */
  readonly waiting: number;
  /** Resources kept although the peer's pending incarnation lacks them. */
  readonly held: number;
  /** Number of rejections since the stream began; `rejections` are the current ones. */
  readonly rejected: number;
  readonly rejections: readonly Rejection[];
  /** Since when something waits, and the time of the last answer. */
  readonly behindSince?: number;
  readonly movedAt?: number;
}

/** Returns how long the oldest change has waited to be applied, ms; 0 if none waits. */
export function computeLag({ behindSince }: KindReport, now: number): number {
  return behindSince === undefined ? 0 : Math.max(0, now - behindSince);
}

/** Whether a zone has the state it should have (docs/design.md §5 Health is what was applied). */
export type Health = 'Online' | 'Lagging' | 'Rejecting' | 'Offline';

/** The lag above which the health is Lagging, ms. */
const MAX_LAG = 5_000;

/** Returns the health from the reports of the open streams; Offline unless both are open. */
export function computeHealth(reports: readonly KindReport[], streams: number, now: number): Health {
  if (streams < 2) return 'Offline';
  if (reports.some((report) => computeLag(report, now) > MAX_LAG)) return 'Lagging';
  return reports.some((report) => report.rejections.length > 0) ? 'Rejecting' : 'Online';
}

/** Returns whether something waits and no answer has come for `patience` ms: the stream is stalled. */
export function isStalled(report: KindReport, now: number, patience: number): boolean {
  return report.movedAt !== undefined && now - report.movedAt >= patience;
}

/** Returns a report in the form of an insight; `lagSeconds` is as of `now`, ms since 1970. */
export function reportDocument(report: KindReport, now: number): JsonObject {
  const rejections = report.rejections.map((rejection) => ({ ...rejection }));
  return { ...report, lagSeconds: computeLag(report, now) / 1_000, rejections };
}

/** Returns the pending incarnation in the form of an insight; the resources that it lacks are kept until `until`, unless the operator confirms it. */
export function pendingIncarnationDocument(pending: PendingIncarnation | undefined, hold: number): JsonObject {
  return pending ? { newIncarnation: { ...pending, until: pending.since + hold } } : {};
}
