import type { JsonObject } from '@causeway/resources';
import type { PendingIncarnation } from '@causeway/sync';
import { lagOf, type KindReport } from './kind-report';

/** A report as it is shown; `lagSeconds` is as of `now`, ms since 1970. */
export function reportDocument(report: KindReport, now: number): JsonObject {
  const rejections = report.rejections.map((rejection) => ({ ...rejection }));
  return { ...report, lagSeconds: lagOf(report, now) / 1_000, rejections };
}

/** A life of a peer that is not accepted: until when what it lacks is kept, unless the operator confirms it. */
export function pendingIncarnationDocument(life: PendingIncarnation | undefined, hold: number): JsonObject {
  return life ? { newLife: { ...life, until: life.since + hold } } : {};
}
