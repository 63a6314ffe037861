import type { LeaderEpoch, LeaderLease, WitnessChange } from '@causeway/runtime';
import { LeaderRow } from '../database/entities';
import type { StoreDatabase } from '../database/store-database';
import { RELEASE, RENEW } from './lease-statements';

const READ = `SELECT l.epoch, l.holder, l.witness,
    greatest(0, ceil(extract(epoch FROM s.expires_at - clock_timestamp()) * 1000))::bigint AS remaining
  FROM leader l, leader_lease s`;

const TAKE_OVER = 'SELECT causeway_begin_epoch($1, $2, $3, $4, $5) AS epoch';

/** A mapped type of rows: interfaces have no index signature. */
type Columns<T> = { readonly [Name in keyof T]: T[Name] };

/** The leader's epoch and lease in Postgres, on a pool of its own, so that no queue of writes delays a renewal. */
export class PostgresLease implements LeaderLease {
  private readonly listeners = new Set<() => void>();

  constructor(private readonly database: StoreDatabase) {}

  async readEpoch(): Promise<LeaderEpoch> {
    const [row] = await this.database.read<Columns<LeaderEpoch>>({ name: 'epoch', text: READ });
    return row ?? { epoch: 0, holder: '', witness: 'lock', remaining: 0 };
  }

  async takeOver(
    fromEpoch: number,
    holder: string,
    leaseMs: number,
    { from, to }: WitnessChange = { from: 'lock', to: 'lock' },
  ): Promise<number | undefined> {
    const statement = { name: 'take-over', text: TAKE_OVER, values: [fromEpoch, holder, leaseMs, from, to] };
    const [row] = await this.database.query<{ epoch: number | null }>(statement);
    return row?.epoch ?? undefined;
  }

  async renew(epoch: number, holder: string, leaseMs: number): Promise<boolean> {
    const rows = await this.database.query({ name: 'renew', text: RENEW, values: [epoch, holder, leaseMs] });
    return rows.length > 0;
  }

  async release(epoch: number, holder: string): Promise<void> {
    await this.database.query({ name: 'release', text: RELEASE, values: [epoch, holder] });
  }

  async returnToLock(epoch: number, holder: string): Promise<boolean> {
    const changed = await this.database.change(LeaderRow, (rows) =>
      rows.update({ epoch, holder }, { witness: 'lock' }),
    );
    return changed.affected === 1;
  }

  onRelease(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Notifies the candidate that a leader has released its lease. */
  released(): void {
    for (const listener of [...this.listeners]) listener();
  }
}
