/** The store of a control plane in Postgres (libs/store-postgres/README.md). */
export { PostgresBackend, type PostgresOptions } from './postgres-backend';
export { restoreBackup, type Restored } from './backup/postgres-restore';
export { databaseUrlFault } from './servers/server-urls';
export { POSTGRES_BACKEND, StoreModule } from './store.module';
