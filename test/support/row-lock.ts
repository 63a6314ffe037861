import { Client } from 'pg';
import { until } from './until';

/** A lock that a test holds in a database, so that writes of others wait in the middle. */
export class RowLock {
  private constructor(private readonly client: Client) {}

  /** Locks what `query` names (`SELECT … FOR UPDATE`). */
  static async take(url: string, query: string): Promise<RowLock> {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query('BEGIN');
    await client.query(query);
    return new RowLock(client);
  }

  /** Resolves when so many statements of this database wait for a lock. */
  async stopped(count: number): Promise<void> {
    const waiting = `SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(`${count} statements wait for a lock`, async () => {
      const { rows } = await this.client.query<{ n: number }>(waiting);
      return (rows[0]?.n ?? 0) >= count;
    });
  }

  async release(): Promise<void> {
    await this.client.query('COMMIT');
    await this.client.end();
  }
}
