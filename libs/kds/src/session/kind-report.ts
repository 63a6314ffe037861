import type { Rejection, PendingIncarnation } from '@causeway/sync';
import type { JsonObject } from '@causeway/resources';

/** How far one kind of one stream is. Revisions are of the sender's store, times ms since 1970. */
export interface KindReport {
  readonly kind: string;
  /** `down`: from the global to the zone. */
  readonly direction: 'down' | 'up';
  /** Known where this control plane sends. */
  readonly offered?: number;
  readonly acked?: number;
  /** Resources sent since the stream began. */
  readonly sent?: number;
  /** Known where this control plane receives; 0 from peers that name no revisions. */
  readonly applied?: number;
  readonly appliedAt?: number;
  /** Resources that wait to be told or answered. */
  readonly waiting: number;
  /** Resources kept though a new life of the peer does not name them. */
  readonly held: number;
  /** Rejected since the stream began, and what stands rejected now. */
  readonly rejected: number;
  readonly rejections: readonly Rejection[];
  /** Since when something waits, and when that last moved. */
  readonly behindSince?: number;
  readonly movedAt?: number;
}

/** For how long something has waited to be taken in, ms; 0 when nothing does. */
export function lagOf({ behindSince }: KindReport, now: number): number {
  return behindSince === undefined ? 0 : Math.max(0, now - behindSince);
}

/** Whether a zone has what it should (design.md §5 Health is what was applied). */
export type Health = 'Online' | 'Lagging' | 'Rejecting' | 'Offline';

/** Behind for longer than this counts as lagging, ms. */
const LAG = 5_000;

/** The health that follows from the reports of the open streams; both must be open. */
export function healthOf(reports: readonly KindReport[], streams: number, now: number): Health {
  if (streams < 2) return 'Offline';
  if (reports.some((report) => lagOf(report, now) > LAG)) return 'Lagging';
  return reports.some((report) => report.rejections.length > 0) ? 'Rejecting' : 'Online';
}

/** Whether something waits that has not moved for `patience` ms: the stream is then of no use. */
export function isStalled(report: KindReport, now: number, patience: number): boolean {
  return report.movedAt !== undefined && now - report.movedAt >= patience;
}

/** A report as it is shown; `lagSeconds` is as of `now`, ms since 1970. */
export function reportDocument(report: KindReport, now: number): JsonObject {
  const rejections = report.rejections.map((rejection) => ({ ...rejection }));
  return { ...report, lagSeconds: lagOf(report, now) / 1_000, rejections };
}

/** A life of a peer that is not accepted: until when what it lacks is kept, unless the operator confirms it. */
export function pendingIncarnationDocument(life: PendingIncarnation | undefined, hold: number): JsonObject {
  return life ? { newIncarnation: { ...life, until: life.since + hold } } : {};
}
