import type { LeaderEpoch, LeaderLease } from '@causeway/runtime';
import { RELEASE, RENEW } from './lease-statements';
import type { PostgresPool } from '../database/postgres-pool';

const READ = `SELECT l.epoch, l.holder,
    greatest(0, ceil(extract(epoch FROM s.expires_at - clock_timestamp()) * 1000))::bigint AS remaining
  FROM leader l, leader_lease s`;

const TAKE_OVER = 'SELECT causeway_take_over($1, $2, $3) AS epoch';

/** The leader's epoch and lease in Postgres, on connections of its own, so that no queue of writes delays a renewal. */
export class PostgresLease implements LeaderLease {
  private readonly listeners = new Set<() => void>();

  constructor(private readonly pool: PostgresPool) {}

  async readEpoch(): Promise<LeaderEpoch> {
    const [row] = await this.pool.read<{ epoch: number; holder: string; remaining: number }>({
      name: 'epoch',
      text: READ,
    });
    return row ?? { epoch: 0, holder: '', remaining: 0 };
  }

  async takeOver(fromEpoch: number, holder: string, leaseMs: number): Promise<number | undefined> {
    const statement = { name: 'take-over', text: TAKE_OVER, values: [fromEpoch, holder, leaseMs] };
    const [row] = await this.pool.query<{ epoch: number | null }>(statement);
    return row?.epoch ?? undefined;
  }

  async renew(epoch: number, holder: string, leaseMs: number): Promise<boolean> {
    const rows = await this.pool.query({ name: 'renew', text: RENEW, values: [epoch, holder, leaseMs] });
    return rows.length > 0;
  }

  async release(epoch: number, holder: string): Promise<void> {
    await this.pool.query({ name: 'release', text: RELEASE, values: [epoch, holder] });
  }

  onRelease(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** To be called when the database says that a leader has released. */
  heard(): void {
    for (const listener of [...this.listeners]) listener();
  }
}
