/** The store of a control plane in Postgres (libs/store-postgres/README.md). */
export { createPostgresBackend, PostgresBackend, type PostgresOptions, type PostgresStatus } from './postgres-backend';
export { restoreBackup, type Restored, type RestoreOptions } from './backup/postgres-restore';
export { PostgresStore } from './postgres-store';
export { databaseUrlFault } from './servers/server-urls';
export { POSTGRES_BACKEND, StoreModule } from './store.module';
