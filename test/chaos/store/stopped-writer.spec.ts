import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { systemClock } from '@causeway/runtime';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { bundleProgram } from '../../support/bundled-program';
import { createMigratedDatabase } from '../../support/migrated-database';

const STOPS = 25;

describe('a process that is stopped at any moment of a write (docs/design.md §2.2)', () => {
  it('keeps nobody else from writing, however long it stands still', async () => {
    const database = await createMigratedDatabase();
    // A writer that held the head row between two round trips, or until its results are read, would let these time out.
    const backend = await createPostgresBackend({ url: database.url, statementTimeout: 30_000 });
    const program = await bundleProgram('test/chaos/store/writer.ts');
    const writer = spawn(process.execPath, [program.file, database.url], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(writer, 'exit');
    await once(writer.stdout, 'data');

    const before = (await backend.store.head()).revision;
    // On a busy machine the other one may not have come to write: it must have, among the writes of this one.
    const others = async (n: number): Promise<number> => (await backend.store.head()).revision - before - n;
    for (let n = 0; n < STOPS || (await others(n)) === 0; n++) {
      await systemClock.sleep(Math.random() * 60);
      writer.kill('SIGSTOP');
      const id = { kind: 'Running', mesh: 'default', zone: '', namespace: '', name: `r${n}` };
      const { results } = await backend.store.write({
        changes: [{ type: 'put', id, expect: 'absent', labels: {}, spec: {} }],
        onRefusal: 'abort',
      });
      expect(results[0]?.type).toBe('written');
      writer.kill('SIGCONT');
    }
    writer.kill('SIGKILL');
    await ended;
    await backend.close();
    await database.drop();
    program.remove();
  });
});
