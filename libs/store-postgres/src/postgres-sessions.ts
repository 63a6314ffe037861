import type { SessionOpening, SessionRequest, SessionStore, SessionRecord, WholeMark } from '@causeway/store';
import { Not } from 'typeorm';
import { ZoneSessionRow } from './database/entities';
import type { ReadBatcher } from './database/read-batcher';
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

const SESSIONS = `SELECT zone, store_id AS "storeId", incarnation, epoch, instance, up, down, opened_at AS "openedAt"
  FROM zone_sessions ORDER BY zone`;

const NEXT_NUMBER = (): string => 'greatest(up, down) + 1';

/** Ends the sessions of a row: a number that no session has is set for the zone until its store opens the next session. */
const ENDED = { epoch: -1, up: NEXT_NUMBER, down: NEXT_NUMBER };

/** Sessions of zones in Postgres: one row for each zone, which writes with a SessionFence lock FOR SHARE. */
export class PostgresSessions implements SessionStore {
  constructor(
    private readonly database: StoreDatabase,
    private readonly joint: ReadBatcher,
  ) {}

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
    const values = storeId === '' ? { storeId } : { storeId, ...ENDED };
    const adopted = await this.database.change(ZoneSessionRow, (rows) =>
      rows.update({ zone, storeId: Not(storeId) }, values),
    );
    return adopted.affected === 1;
  }

  resetEpoch(zone: string): Promise<number | undefined> {
    return this.database.change(ZoneSessionRow, async (rows) => {
      for (;;) {
        const row = await rows.findOneBy({ zone });
        if (!row) return undefined;
        const { epoch } = row;
        // Repeated if a session was opened meanwhile: the epoch that is returned is the one that was replaced.
        if ((await rows.update({ zone, epoch }, ENDED)).affected === 1) return epoch;
      }
    });
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

  sessions(): Promise<readonly SessionRecord[]> {
    return this.joint.read<SessionRecord>({ name: 'sessions', text: SESSIONS });
  }
}

function toRecord({ zone, storeId, incarnation, epoch, instance, up, down, openedAt }: ZoneSessionRow): SessionRecord {
  return { zone, storeId, incarnation, epoch, instance, up, down, openedAt };
}
