import { PostgresBackend, type PostgresOptions } from '../src/postgres-backend';

/** Returns a connected backend: see `PostgresBackend.connect`. */
export async function createPostgresBackend(options: PostgresOptions): Promise<PostgresBackend> {
  const backend = new PostgresBackend(options);
  try {
    await backend.connect();
    return backend;
  } catch (error) {
    await backend.close();
    throw error;
  }
}
