import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { EmbeddedPostgres } from '../../../scripts/lib/embedded-postgres.mjs';

/**
 * A Postgres server that can crash. It runs with the settings of the product's own one, not with those of the tests' server, which loses the last
 * commits when it crashes.
 */
export class ChaosServer {
  private constructor(
    private readonly folder: string,
    private running: EmbeddedPostgres,
  ) {}

  static async start(): Promise<ChaosServer> {
    const folder = await mkdtemp(join(tmpdir(), 'causeway-chaos-'));
    try {
      await chmod(folder, 0o755); // Postgres may run as another user
      const { freePort } = await import('../../../scripts/lib/ports.mjs');
      return new ChaosServer(folder, await serve(folder, await freePort()));
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  url(database: string): string {
    return this.running.url(database);
  }

  /** Ends it at once, by kill -9. */
  crash(): Promise<void> {
    return this.running.crash();
  }

  /** Starts it again after a crash, on the same port; resolves when it has recovered. */
  async recover(): Promise<void> {
    this.running = await serve(this.folder, this.running.port);
  }

  /** Runs statements one by one, connected to none of the databases of the control planes. */
  async run(...statements: readonly string[]): Promise<void> {
    const client = new Client({ connectionString: this.url('postgres') });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  }

  /** Ends it, and drops all that it held. */
  async stop(): Promise<void> {
    await this.running.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function serve(folder: string, port: number): Promise<EmbeddedPostgres> {
  const { startPostgres } = await import('../../../scripts/lib/embedded-postgres.mjs');
  return startPostgres({ folder, port });
}
