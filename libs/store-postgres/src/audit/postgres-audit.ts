import type {
  AuditBounds,
  AuditEntry,
  AuditLog,
  AuditPage,
  AuditPosition,
  AuditQuery,
  AuditRecord,
} from '@causeway/store';
import type { Repository } from 'typeorm';
import { AuditRow } from '../database/entities';
import type { StoreDatabase } from '../database/store-database';
import { pageQuery, searchEndQuery } from './audit-query';

/** Entries a statement deletes. */
const PURGE = 5_000;

const RECORD = `INSERT INTO audit (at, actor, groups, recognized_by, token_id, address, via, user_agent, verb, kind, mesh, zone,
    namespace, name, activity, result, reason, request_id, trace_id)
  SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - "age", "user", groups, "recognizedBy", "tokenId", address,
    via, "userAgent", verb, kind, mesh, zone, namespace, name, activity, result, reason, "requestId", "traceId"
  FROM jsonb_to_recordset($1) AS r(place int, "age" bigint, "user" text, groups jsonb, "recognizedBy" text, "tokenId" text,
    address text, via text, "userAgent" text, verb text, kind text, mesh text, zone text, namespace text, name text,
    activity text, result text, reason text, "requestId" text, "traceId" text)
  ORDER BY place`;

/** Selects the limits below which entries are too old or too many: one for all entries, one for refusals. */
const CUTS = `SELECT
  greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint - $1::bigint * 1000 - 1,
    (SELECT at FROM audit ORDER BY at DESC, number DESC OFFSET $2 LIMIT 1)) AS all,
  (SELECT at FROM audit WHERE result = 'refused' ORDER BY at DESC, number DESC OFFSET $3 LIMIT 1) AS refused`;

const DELETE_ALL = deleteWhere('at <= $1');
const DELETE_REFUSED = deleteWhere(`at <= $1 AND result = 'refused'`);

function deleteWhere(condition: string): string {
  return `WITH old AS (SELECT at, number FROM audit WHERE ${condition} ORDER BY at, number LIMIT $2),
    gone AS (DELETE FROM audit USING old WHERE audit.at = old.at AND audit.number = old.number RETURNING 1)
    SELECT count(*) AS gone FROM gone`;
}

/**
 * The audit log in Postgres. A page costs what an index gives: by user, by kind with mesh and name, by time and for
 * refusals only entries that match are read. Other filters read at most 50,000 entries a page.
 */
export class PostgresAudit implements AuditLog {
  constructor(private readonly database: StoreDatabase) {}

  async record(records: readonly AuditRecord[]): Promise<void> {
    if (records.length === 0) return;
    const rows = records.map((record, place) => ({ ...record, place, age: Math.round(record.age * 1_000) }));
    await this.database.query({ name: 'audit-record', text: RECORD, values: [JSON.stringify(rows)] });
  }

  async page(query: AuditQuery): Promise<AuditPage> {
    return this.database.find(AuditRow, async (audit) => {
      const rows = await pageQuery(audit, query).getRawMany<AuditRow>();
      const entries = rows.slice(0, query.size).map(toEntry);
      const next = rows.length > query.size ? entries.at(-1)?.position : await endOfSearch(audit, query);
      return { entries, ...(next ? { next } : {}) };
    });
  }

  async purge({ age, entries, refusals }: AuditBounds): Promise<number> {
    const statement = { text: CUTS, values: [age, entries, refusals] };
    const [cuts] = await this.database.query<{ all: number; refused: number | null }>(statement);
    if (!cuts) return 0;
    const gone = await this.deleteUpTo(DELETE_ALL, cuts.all);
    return cuts.refused === null ? gone : gone + (await this.deleteUpTo(DELETE_REFUSED, cuts.refused));
  }

  private async deleteUpTo(text: string, at: number): Promise<number> {
    let deleted = 0;
    for (;;) {
      const [row] = await this.database.query<{ gone: number }>({ text, values: [at, PURGE] });
      deleted += row?.gone ?? 0;
      if ((row?.gone ?? 0) < PURGE) return deleted;
    }
  }
}

/** Returns where a search that did not fill its page was ended for its cost; undefined if it saw all entries. */
async function endOfSearch(audit: Repository<AuditRow>, query: AuditQuery): Promise<AuditPosition | undefined> {
  const row = await searchEndQuery(audit, query)?.getOne();
  return row ? { at: row.at, number: row.number } : undefined;
}

function toEntry(row: AuditRow): AuditEntry {
  const { at, number, actor: user, groups, address, via, verb, kind, mesh, zone, namespace, name } = row;
  const { activity, result, reason, revision, request_id: requestId, trace_id: traceId } = row;
  const [tokenId, generationBefore, generationAfter] = [row.token_id, row.generation_before, row.generation_after];
  return {
    position: { at, number },
    user,
    groups,
    recognizedBy: row.recognized_by,
    address,
    via,
    userAgent: row.user_agent,
    ...(tokenId === null ? {} : { tokenId }),
    ...(requestId === null ? {} : { requestId }),
    ...(traceId === null ? {} : { traceId }),
    verb,
    kind,
    mesh,
    zone,
    namespace,
    name,
    activity,
    result,
    reason,
    ...(generationBefore === null ? {} : { generationBefore }),
    ...(generationAfter === null ? {} : { generationAfter }),
    ...(revision === null ? {} : { revision }),
  };
}
