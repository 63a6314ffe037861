/** Test support of this lib: internals that tests and benchmarks elsewhere import. Production code does not import it. */
export { createPostgresBackend } from './connected-backend';
export { migrateDatabase } from './migrate-database';
