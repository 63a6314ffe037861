import { createPostgresBackend } from '@causeway/store-postgres/testing';
import type { PlaneState } from './plane-state';
import { createMigratedDatabase } from './migrated-database';
import { createTestDatabase, rowsOf, type TestDatabase } from './postgres';

/** Databases of the control planes of a test, by name; replicas of one control plane share one. */
export class PostgresHomes {
  private readonly databases = new Map<string, TestDatabase>();

  /** Another replica's connection to the database of this name, which is made when it is first asked for. */
  async state(name: string): Promise<PlaneState> {
    const database = this.databases.get(name) ?? (await createMigratedDatabase());
    this.databases.set(name, database);
    return createPostgresBackend({ url: database.url, poolSize: 3 });
  }

  url(name: string): string {
    return this.named(name).url;
  }

  /** Copies a database without connections, as a backup does. */
  async copy(from: string, to: string): Promise<void> {
    this.databases.set(to, await createTestDatabase(this.named(from)));
  }

  /** Copies a database of others, without connections; the store in it continues as if it had begun there. */
  async copyOf(others: PostgresHomes, name: string): Promise<void> {
    const database = await createTestDatabase(others.named(name));
    this.databases.set(name, database);
    await rowsOf(database.url, `UPDATE store_head SET server = ''`);
  }

  async drop(): Promise<void> {
    await Promise.all([...this.databases.values()].map((database) => database.drop()));
  }

  private named(name: string): TestDatabase {
    const database = this.databases.get(name);
    if (!database) throw new Error(`no database ${name}`);
    return database;
  }
}
