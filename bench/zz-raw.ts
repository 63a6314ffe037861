import { benchServices } from './support/services';
import { performance } from 'node:perf_hooks';
import { Client } from 'pg';
import { silentLogger, systemClock } from '@causeway/runtime';
import { followStore, ResourceIndex } from '@causeway/store';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { createTestDatabase } from '../test/support/postgres';
const pct = (t: number[]) => {
  t.sort((a, b) => a - b);
  return [0.1, 0.5, 0.9, 0.99].map((p) => (t[Math.floor((t.length - 1) * p)] ?? 0).toFixed(2)).join(' ');
};
async function main() {
  const stopServices = await benchServices();
  const db = await createTestDatabase();
  const backend = await createPostgresBackend({ url: db.url, clock: systemClock, logger: silentLogger });
  const index = new ResourceIndex();
  const ended = new AbortController();
  void followStore(backend.store, index, { clock: systemClock, logger: silentLogger, signal: ended.signal });
  await index.reached(0);
  const c = new Client({ connectionString: db.url });
  await c.connect();
  await c.query('CREATE TABLE t (a int, b text)');
  const run = async (name: string, work: (n: number) => Promise<unknown>, gap = 0) => {
    const times: number[] = [];
    for (let n = 0; n < 200; n++) {
      const s = performance.now();
      await work(n);
      times.push(performance.now() - s);
      if (gap) await new Promise((r) => setTimeout(r, gap));
    }
    console.log(name, pct(times));
  };
  await run('select 1', () => c.query('SELECT 1'));
  await run('insert', (n) => c.query('INSERT INTO t VALUES ($1, $2)', [n, 'x'.repeat(500)]));
  await run('insert gap 20', (n) => c.query('INSERT INTO t VALUES ($1, $2)', [n, 'x'.repeat(500)]), 20);
  const put = (n: number) => ({
    type: 'put' as const,
    id: { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name: `s-${n}` },
    expect: 'any' as const,
    labels: { a: 'b' },
    spec: { ports: [{ port: 80 }] },
  });
  await run('store.write', (n) => backend.store.write({ changes: [put(n)], onRefusal: 'skip' }));
  await run('store.write gap 20', (n) => backend.store.write({ changes: [put(n + 1000)], onRefusal: 'skip' }), 20);
  await c.query('SET synchronous_commit = off');
  await run('insert async', (n) => c.query('INSERT INTO t VALUES ($1, $2)', [n, 'x'.repeat(500)]));
  const proto = Client.prototype as any;
  const real = proto.query;
  const q: number[] = [];
  proto.query = function (...args: any[]) {
    const s = performance.now();
    const r = real.apply(this, args);
    const text = args[0]?.text ?? args[0];
    if (r?.then)
      void r.then(
        () => {
          if (String(text).includes('causeway_write')) q.push(performance.now() - s);
        },
        () => 0,
      );
    return r;
  };
  await run('again', (n) => backend.store.write({ changes: [put(n + 3000)], onRefusal: 'skip' }));
  console.log('query', q.length, q.length ? pct(q) : '');
  await c.query('SET synchronous_commit = on');
  const args = [];
  ended.abort();
  await c.end();
  await backend.close();
  await db.drop();
  await stopServices();
}
main()
  .catch((e) => console.error(e))
  .finally(() => process.exit(0));
