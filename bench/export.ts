import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { finished } from 'node:stream/promises';
import { silentLogger } from '@causeway/runtime';
import {
  BACKUP_VERSION,
  backupLines,
  BackupWriter,
  type MetadataEntry,
  type PatchChange,
  type PutChange,
  type ResourceStore,
} from '@causeway/store';
import { restoreBackup } from '@causeway/store-postgres';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { createTestDatabase } from '../test/support/postgres';
import { benchServices } from './support/services';

/**
 * A backup of 100,000 services with addresses into a file, and its restore into an empty database: times, size, and how much
 * the memory of the process grew meanwhile (docs/guides/backup.md). Prints one JSON line.
 */
const RESOURCES = Number(process.env['BENCH_RESOURCES'] ?? 100_000);
const BATCH = 10_000;
const OWNER = { role: 'zone', zone: 'east' } as const;

const id = (n: number): PutChange['id'] => {
  return { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name: `service-${n}` };
};
const ports = [{ port: 80, targetPort: 8080, appProtocol: 'http' }];

function put(n: number): PutChange {
  return { type: 'put', id: id(n), expect: 'any', labels: { team: `team-${n % 50}` }, spec: { ports } };
}

function patch(n: number): PatchChange {
  const vip = `241.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
  return { type: 'patch', id: id(n), expect: 'any', vip, status: { vip: { ip: vip, type: 'Kuma' } } };
}

/** Runs work; returns its duration in ms and the largest growth of the process in bytes. */
async function measured<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly ms: number; readonly grew: number }> {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 50);
  const start = performance.now();
  try {
    const result = await work();
    return { result, ms: Math.round(performance.now() - start), grew: most - before };
  } finally {
    clearInterval(watch);
  }
}

/** Makes the store that of a zone with services, each with an address. */
async function fill(store: ResourceStore): Promise<void> {
  const self: MetadataEntry = { area: 'identity', key: 'self', value: { ...OWNER, storeId: 'bench' } };
  await store.write({ changes: [], onRefusal: 'abort', metadata: [self] });
  for (const change of [put, patch])
    for (let n = 0; n < RESOURCES; n += BATCH) {
      const changes = Array.from({ length: Math.min(BATCH, RESOURCES - n) }, (_, i) => change(n + i));
      await store.write({ changes, onRefusal: 'skip' });
    }
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  const folder = mkdtempSync(join(tmpdir(), 'causeway-export-'));
  const [from, to] = [await createTestDatabase(), await createTestDatabase()];
  const file = join(folder, 'backup');
  const backend = await createPostgresBackend({ url: from.url });
  try {
    await fill(backend.store);
    const exported = await measured(async () => {
      const out = createWriteStream(file);
      const writer = new BackupWriter();
      const write = (text: string): Promise<void> =>
        new Promise((resolve, reject) => out.write(text, (error) => (error ? reject(error) : resolve())));
      await backend.backup.export(
        { secrets: true, secretKinds: [], secretAreas: [] },
        {
          facts: (facts) => write(writer.header({ version: BACKUP_VERSION, program: 'bench', takenAt: 0, ...facts })),
          rows: ({ table, rows }) => write(rows.map((row) => writer.record(table, row)).join('')),
        },
      );
      out.end(writer.end());
      await finished(out);
    });
    const restored = await measured(() =>
      restoreBackup(backupLines(createReadStream(file, { highWaterMark: 256 * 1024 })), {
        url: to.url,
        logger: silentLogger,
        owner: OWNER,
        dryRun: false,
        signal: new AbortController().signal,
      }),
    );
    const mib = (bytes: number): number => Math.round(bytes / 1024 / 1024);
    const figures = {
      bench: 'export',
      resources: restored.result.ok ? restored.result.result.resources : 0,
      fileMiB: mib(statSync(file).size),
      exportMs: exported.ms,
      exportGrewMiB: mib(exported.grew),
      importMs: restored.ms,
      importGrewMiB: mib(restored.grew),
    };
    console.log(JSON.stringify(figures));
  } finally {
    await backend.close();
    await Promise.all([from.drop(), to.drop()]);
    rmSync(folder, { recursive: true, force: true });
    await stopServices();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
