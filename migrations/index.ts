/**
 * The schema of a store as numbered SQL files, forward only. A file that ran anywhere is never edited: a change of the
 * schema is the next file. A step first expands (adds what both versions bear) and contracts a version later, since
 * replicas of two versions work on one database during an update. schema.sql is what the files make together.
 *
 * From 0006 on the name of a file says the last step of the version before it (`0006-needs-0005-words.sql`): programs that
 * know this step work on what the file makes, older ones refuse it (docs/guides/upgrade.md).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** All steps, in the order in which they run. No file patterns: this list is the order. */
export const migrations = [
  sqlMigration('0001-store.sql'),
  sqlMigration('0002-audit.sql'),
  sqlMigration('0003-unchanged.sql'),
  sqlMigration('0004-proxy-sessions.sql'),
  sqlMigration('0005-agent-leases.sql'),
  sqlMigration('0006-needs-0005-traces.sql'),
  sqlMigration('0007-needs-0005-restored-in-place.sql'),
  sqlMigration('0008-needs-0005-orders-that-count.sql'),
  sqlMigration('0009-needs-0005-who-is-witness.sql'),
  sqlMigration('0010-needs-0005-lease-secrets.sql'),
  sqlMigration('0011-needs-0005-initial-state.sql'),
];

/** Steps of versions that were never released. Their databases are refused; `0001-store.sql` took their place. */
export const unreleasedMigrations: readonly string[] = [
  'Tables0000000000001',
  'Write0000000000002',
  'LeaderAndLife0000000000003',
  'WriteInOrder0000000000004',
  'WriteTogether0000000000005',
  'TellParts0000000000006',
  'PointsAndEpochs0000000000007',
];

/**
 * A TypeORM migration that runs one SQL file of this folder. The build copies the files to where `__dirname` is at run
 * time: this folder, its place in dist/, and beside each bundled program.
 */
function sqlMigration(file: string): new () => MigrationInterface {
  return class implements MigrationInterface {
    readonly name = nameOf(file);

    async up(runner: QueryRunner): Promise<void> {
      await runner.query(readFileSync(join(__dirname, file), 'utf8'));
    }

    down(): Promise<void> {
      return Promise.reject(new Error('migrations go forward only; restore a backup instead'));
    }
  };
}

/**
 * The number of the step that a program must know to work on a database in which the step `name` of the bookkeeping table
 * ran (`Needs0005Words0000000000006` → 5); undefined where the name does not say it.
 */
export function neededStep(name: string): number | undefined {
  const [, number] = /^Needs(\d{4})[A-Z].*\d{13}$/.exec(name) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** The number of a step by its name in the bookkeeping table: `Store0000000000001` → 1. */
export function stepNumber(name: string): number {
  return Number(name.slice(-13));
}

/** The name in the bookkeeping table: `0001-store.sql` is `Store0000000000001`. TypeORM orders by the last 13 digits. */
function nameOf(file: string): string {
  const [number = '', ...words] = file.replace('.sql', '').split('-');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('') + number.padStart(13, '0');
}
