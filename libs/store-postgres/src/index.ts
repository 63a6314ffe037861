/**
 * The store of a control plane in Postgres: one table for the log, a row that orders the commits, and beside the log the
 * leader's epoch and lease, the sessions of zones, and notes. TypeORM's DataSource is the pool; LISTEN and the thread that
 * renews the lease have connections of their own.
 *
 *   PostgresBackend → { store, sessions, audit, lease, leaseKeeper }
 */
export { PostgresBackend, type PostgresOptions } from './postgres-backend';
export { restoreBackup, type Restored } from './backup/postgres-restore';
export { databaseUrlFault } from './servers/server-urls';
export { POSTGRES_BACKEND, StoreModule } from './store.module';
