import type { SessionOpening, SessionRequest, SessionStore, SessionRecord, WholeMark } from '@causeway/store';
import { ZoneSessionRow } from './database/entities';
import type { StoreDatabase } from './database/store-database';

interface OpenedRow {
  readonly outcome: SessionOpening['type'];
  readonly session: number;
  readonly store_id: string;
  readonly incarnation: string;
  readonly epoch: number;
  readonly last: number;
  /** 0: there was no session before. */
  readonly before: number;
}

const OPEN = `SELECT outcome, session, (standing).store_id, (standing).incarnation, (standing).epoch,
  greatest((standing).up, (standing).down) AS last, (standing).opened_at AS before FROM causeway_open_session($1, $2, $3, $4, $5, $6)`;

/** A number that no session has stands for the zone until its new store opens a session. */
const ADOPT = `UPDATE zone_sessions SET store_id = $2, epoch = CASE $2 WHEN '' THEN epoch ELSE -1 END,
    up = CASE $2 WHEN '' THEN up ELSE greatest(up, down) + 1 END,
    down = CASE $2 WHEN '' THEN down ELSE greatest(up, down) + 1 END
  WHERE zone = $1 AND store_id <> $2 RETURNING zone`;

const RESET_EPOCH = `UPDATE zone_sessions z
  SET epoch = -1, up = greatest(z.up, z.down) + 1, down = greatest(z.up, z.down) + 1
  FROM (SELECT zone, epoch FROM zone_sessions WHERE zone = $1 FOR UPDATE) AS before
  WHERE z.zone = before.zone RETURNING before.epoch`;

/** Sessions of zones in Postgres: one row a zone, which writes with a SessionFence hold FOR SHARE. */
export class PostgresSessions implements SessionStore {
  constructor(private readonly database: StoreDatabase) {}

  async open(request: SessionRequest): Promise<SessionOpening> {
    const { zone, storeId, incarnation, epoch, instance, direction = 'both' } = request;
    const values = [zone, storeId, incarnation, epoch, instance, direction];
    const [row] = await this.database.query<OpenedRow>({ name: 'open-session', text: OPEN, values });
    if (!row) throw new Error(`the database opened no session of zone ${zone}`);
    switch (row.outcome) {
      case 'other-store':
        return { type: 'other-store', boundTo: row.store_id };
      case 'older':
        return { type: 'older', epoch: row.epoch };
      case 'doubtful':
        return { type: 'doubtful', epoch: row.epoch };
      case 'opened':
        if (row.before === 0) return { type: 'opened', session: row.session };
        return { type: 'opened', session: row.session, previous: { session: row.last, incarnation: row.incarnation } };
    }
  }

  async adopt(zone: string, storeId: string): Promise<boolean> {
    const rows = await this.database.query<{ zone: string }>({
      name: 'adopt-zone',
      text: ADOPT,
      values: [zone, storeId],
    });
    return rows.length > 0;
  }

  async resetEpoch(zone: string): Promise<number | undefined> {
    const [row] = await this.database.query<{ epoch: number }>({
      name: 'reset-epoch',
      text: RESET_EPOCH,
      values: [zone],
    });
    return row?.epoch;
  }

  async forget(zone: string, session: number): Promise<boolean> {
    const text = 'SELECT causeway_forget_session($1, $2) AS gone';
    const [row] = await this.database.query<{ gone: boolean }>({
      name: 'forget-session',
      text,
      values: [zone, session],
    });
    return row?.gone === true;
  }

  async markWhole(marks: readonly WholeMark[]): Promise<void> {
    if (marks.length === 0) return;
    const text = 'SELECT causeway_mark_whole($1)';
    await this.database.query({ name: 'mark-whole', text, values: [JSON.stringify(marks)] });
  }

  async session(zone: string): Promise<SessionRecord | undefined> {
    const row = await this.database.find(ZoneSessionRow, (rows) => rows.findOneBy({ zone }));
    return row ? toRecord(row) : undefined;
  }

  async sessions(): Promise<readonly SessionRecord[]> {
    const rows = await this.database.find(ZoneSessionRow, (table) => table.find({ order: { zone: 'ASC' } }));
    return rows.map(toRecord);
  }
}

function toRecord({ zone, storeId, incarnation, epoch, instance, up, down, openedAt }: ZoneSessionRow): SessionRecord {
  return { zone, storeId, incarnation, epoch, instance, up, down, openedAt };
}
