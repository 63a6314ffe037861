/**
 * The store of a control plane in Postgres: one table for the log, a row that orders the commits, and beside the log
 * the leader's epoch, sessions of zones and notes.
 *
 *   createPostgresBackend → { store, sessions, lease }
 */
export {
  createPostgresBackend,
  type PostgresBackend,
  type PostgresOptions,
  type PostgresStatus,
} from './postgres-backend';
export { PostgresStore } from './postgres-store';
export { POSTGRES_BACKEND, StoreModule } from './store.module';
