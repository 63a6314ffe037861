import { createPostgresBackend } from '@causeway/store-postgres/testing';
import type { Change } from '@causeway/store';

/** Writes without end, small and large, until it is killed; reports when it begins. */
async function main(): Promise<void> {
  const { store } = await createPostgresBackend({ url: process.argv[2] ?? '', poolSize: 2 });
  process.stdout.write('writing\n');
  for (let turn = 0; ; turn++) {
    const changes = Array.from({ length: [1, 2_000, 40][turn % 3] ?? 1 }, (_, n): Change => {
      const id = { kind: 'Stopped', mesh: 'default', zone: '', namespace: '', name: `s${n}` };
      return { type: 'put', id, expect: 'any', labels: {}, spec: { turn, text: 'x'.repeat(500) } };
    });
    await store.write({ changes, onRefusal: turn % 2 === 0 ? 'abort' : 'skip' });
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
