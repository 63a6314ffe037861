import type { JsonObject } from '@causeway/resources';
import { pendingIncarnationDocument, reportDocument } from '../session/insight-documents';
import { healthOf } from '../session/kind-report';
import { DEFAULT_ABSENCE_HOLD } from './zone-sync-options';
import type { ZoneSyncStatus } from './zone-sync';

/** What a zone itself knows of its session, in the form in which the global tells it; `now` is ms since 1970. */
export function sessionInsight(status: ZoneSyncStatus, now: number, hold = DEFAULT_ABSENCE_HOLD): JsonObject {
  const { connected, session, peer, global, openedAt = 0, kinds, lastError, disconnectedSince: awaySince } = status;
  const directions = ['down', 'up'] as const;
  return {
    health: healthOf(kinds, connected ? directions.length : 0, now),
    renewedAt: now,
    ...(peer ? { peer } : {}),
    ...(global ? { globalInstanceId: global.instance, globalVersion: global.version } : {}),
    sessions: session === undefined ? [] : directions.map((direction) => ({ session, direction, openedAt })),
    ...pendingIncarnationDocument(status.pendingIncarnation, hold),
    kinds: kinds.map((report) => reportDocument(report, now)),
    ...(connected || lastError === undefined ? {} : { lastError }),
    ...(awaySince === undefined ? {} : { offline: { since: awaySince, reason: lastError ?? 'no session yet' } }),
  };
}
