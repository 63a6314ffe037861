/** Test support of this lib: what tests and benchmarks elsewhere import of its inside. Nothing that ships imports it. */
export { createPostgresBackend } from './connected-backend';
export { migrateDatabase } from './migrate-database';
