import type { MigrationInterface, QueryRunner } from 'typeorm';
import { WRITE } from './0005-write-together';

/**
 * A write of patches that has set nothing but the status, address and grace which they name says so in a line, and who
 * wrote it need not read its rows. It is asked for by a null for `tell_rows`, which no older replica sends.
 */
export class TellParts0000000000006 implements MigrationInterface {
  readonly name = 'TellParts0000000000006';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(EDITS.reduce(edited, WRITE));
  }

  down(): Promise<void> {
    return Promise.reject(new Error('migrations go forward only; restore a backup instead'));
  }
}

type Edit = readonly [from: string, to: string];

/** What differs from the step before; schema.sql has the whole. */
const EDITS: readonly Edit[] = [
  [
    `  one_by_one boolean := false;
`,
    `  one_by_one boolean := false;
  -- The patches have set nothing but what they name, the time and the revision.
  as_named boolean := true;
`,
  ],
  [
    `      IF asked.spec <> held.spec THEN
`,
    `      IF asked.spec <> held.spec THEN
        as_named := false;
`,
  ],
  [
    `        IF held.vip IS NOT NULL OR held.freed <> '[]' THEN
`,
    `        IF held.vip IS NOT NULL OR held.freed <> '[]' THEN
          as_named := false;
`,
  ],
  [
    `'rows', rows_made);
`,
    `'rows', rows_made);
    ELSIF tell_rows IS NULL AND as_named THEN
      written := jsonb_build_object('incarnation', head.incarnation, 'after', before, 'floor', head.floor, 'at', now_ms);
`,
  ],
];

function edited(text: string, [from, to]: Edit): string {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`the step before has "${from.trim()}" ${parts.length - 1} times, not once`);
  return parts.join(to);
}
