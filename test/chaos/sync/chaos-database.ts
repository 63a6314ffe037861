import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../support/postgres';

/** The database of a control plane, which can be away as while Postgres restarts: all connections break, none is taken. */
export class ChaosDatabase {
  private constructor(private readonly database: TestDatabase) {}

  static async create(): Promise<ChaosDatabase> {
    return new ChaosDatabase(await createTestDatabase());
  }

  get url(): string {
    return this.database.url;
  }

  goAway(): Promise<void> {
    const name = this.name;
    return this.onServer(
      `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
    );
  }

  comeBack(): Promise<void> {
    return this.onServer(`ALTER DATABASE ${this.name} ALLOW_CONNECTIONS true`);
  }

  drop(): Promise<void> {
    return this.database.drop();
  }

  private get name(): string {
    return new URL(this.url).pathname.slice(1);
  }

  private async onServer(...statements: readonly string[]): Promise<void> {
    const server = new URL(this.url);
    server.pathname = '/postgres';
    const client = new Client({ connectionString: server.href });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  }
}
