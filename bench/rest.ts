import { performance } from 'node:perf_hooks';
import { AccessPolicy } from '@causeway/access';
import { Admission } from '@causeway/admission';
import { coreKinds } from '@causeway/kinds';
import { globalIdentity, isJsonObject, type Identity } from '@causeway/resources';
import { createRestServer } from '@causeway/rest/testing';
import { silentLogger, systemClock } from '@causeway/runtime';
import { followStore, ResourceIndex, type Change, type ResourceStore } from '@causeway/store';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { meshesOf } from '../test/support/meshes';
import { createTestDatabase } from '../test/support/postgres';
import { restAccess } from '../test/support/rest-access';
import { benchServices } from './support/services';
import { summary } from './support/summary';

/**
 * A control plane's REST server over loopback with 10,000 services in a store in Postgres: lists of 1,000 and of all
 * 10,000 by cursor, reads, writes one after another and 16 at a time, batches of 1,000 (written as sync and controllers
 * do, until a list shows them), and 100 watchers (from sending a write to the last of them).
 * Prints one JSON line. BENCH_SERVICES (10000), BENCH_TRIES (200), BENCH_WATCHERS (100).
 */
const SERVICES = Number(process.env['BENCH_SERVICES'] ?? 10_000);
const TRIES = Number(process.env['BENCH_TRIES'] ?? 200);
const WATCHERS = Number(process.env['BENCH_WATCHERS'] ?? 100);
const WRITERS = 16;
const BATCH = 1_000;
const CP = { role: 'zone', zone: 'east', federated: true } as const;
const LIST = '/meshes/default/meshservices';

function service(i: number, port = 80): Change {
  const id: Identity = {
    kind: 'MeshService',
    mesh: 'default',
    zone: 'east',
    namespace: 'default',
    name: `service-${i}`,
  };
  const labels = { 'kuma.io/zone': 'east', 'kuma.io/display-name': id.name, team: `team-${i % 100}` };
  return { type: 'put', id, expect: 'any', labels, spec: { ports: [{ port, appProtocol: 'http' }] } };
}

const mesh: Change = {
  type: 'put',
  expect: 'any',
  labels: {},
  spec: {},
  id: globalIdentity('Mesh', 'default'),
};

async function timed(tries: number, run: (i: number) => Promise<unknown>): Promise<Readonly<Record<string, number>>> {
  const times: number[] = [];
  for (let i = 0; i < tries; i++) {
    const start = performance.now();
    await run(i);
    times.push(performance.now() - start);
  }
  return summary(times);
}

async function text(url: string, init: RequestInit = {}): Promise<string> {
  const answer = await fetch(url, init);
  const body = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${body}`);
  return body;
}

function put(base: string, name: string, port: number): Promise<string> {
  const body = JSON.stringify({ type: 'MeshService', name, spec: { selector: {}, ports: [{ port }] } });
  return text(`${base}${LIST}/${name}`, { method: 'PUT', body, headers: { 'content-type': 'application/json' } });
}

/** Measures the writes per second that are answered when several clients write concurrently. */
async function sideBySide(base: string): Promise<number> {
  const start = performance.now();
  const writer = async (_: unknown, first: number): Promise<void> => {
    for (let i = first; i < TRIES; i += WRITERS) await put(base, `side-${i}`, 80);
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
  return Math.round((TRIES * 1_000) / (performance.now() - start));
}

/** From a batch handed to the store to a list that has it. */
async function batch(base: string, store: ResourceStore, turn: number): Promise<void> {
  const changes = Array.from({ length: Math.min(BATCH, SERVICES) }, (_, i) => service(i, 1_000 + turn));
  const { revision } = await store.write({ changes, onRefusal: 'skip' });
  await text(`${base}${LIST}?size=1&minRevision=${revision}`);
}

/** Every page by cursor, as a client that wants all would read them. */
async function everything(base: string): Promise<void> {
  let next: string | null = `${base}${LIST}?size=1000&cursor=`;
  let seen = 0;
  while (next !== null) {
    const page: unknown = JSON.parse(await text(next));
    if (!isJsonObject(page) || !Array.isArray(page['items'])) throw new Error('no page');
    seen += page['items'].length;
    next = typeof page['next'] === 'string' ? page['next'] : null;
  }
  if (seen < SERVICES) throw new Error(`${seen} of ${SERVICES} services`);
}

/** A watch that calls `seen` for each put of a resource, with its name. */
async function watch(base: string, seen: (name: string) => void, signal: AbortSignal): Promise<void> {
  const point = (await fetch(`${base}${LIST}?size=1`)).headers.get('causeway-revision') ?? '0';
  const answer = await fetch(`${base}${LIST}?watch=true&since=${point}`, { signal });
  const { body } = answer;
  if (!body) throw new Error('a watch without a body');
  const follow = async (): Promise<void> => {
    let rest = '';
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + chunk).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const name = block.startsWith('event: put') ? /"name":"([^"]+)"/.exec(block)?.[1] : undefined;
        if (name !== undefined) seen(name);
      }
    }
  };
  void follow().catch(() => undefined);
}

/** From sending a write to the moment the last watcher has it. */
async function fanOut(base: string): Promise<Readonly<Record<string, number>>> {
  const stop = new AbortController();
  let wanted = '';
  let missing = 0;
  let told: () => void = () => undefined;
  const seen = (name: string): void => {
    if (name === wanted && --missing === 0) told();
  };
  await Promise.all(Array.from({ length: WATCHERS }, () => watch(base, seen, stop.signal)));
  const figures = await timed(TRIES, async (i) => {
    wanted = `fan-${i}`;
    missing = WATCHERS;
    const all = new Promise<void>((resolve) => (told = resolve));
    await put(base, wanted, 80);
    await all;
  });
  stop.abort();
  return figures;
}

async function fill(store: ResourceStore, index: ResourceIndex): Promise<void> {
  await store.write({ changes: [mesh], onRefusal: 'abort' });
  const changes = Array.from({ length: SERVICES }, (_, i) => service(i));
  await index.reached((await store.write({ changes, onRefusal: 'skip' })).revision);
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  const database = await createTestDatabase();
  const backend = await createPostgresBackend({ url: database.url });
  const { store } = backend;
  const index = new ResourceIndex();
  const stop = new AbortController();
  const following = followStore(store, index, { clock: systemClock, logger: silentLogger, signal: stop.signal });
  await fill(store, index);
  const parts = { registry: coreKinds, store, index, meshes: meshesOf(index), clock: systemClock };
  const access = new AccessPolicy({ ...parts, cp: CP });
  const admission = new Admission({ ...parts, controlPlane: CP, access });
  const server = await createRestServer({
    ...parts,
    audit: backend.audit,
    cp: CP,
    admission,
    logger: silentLogger,
    access: restAccess(access),
    program: { version: '0', instanceId: 'bench', config: {} },
  });
  const base = `http://127.0.0.1:${await server.listen('127.0.0.1', 0)}`;
  const figures = {
    bench: 'rest',
    services: SERVICES,
    list_all_first_ms: (await timed(1, () => everything(base)))['max_ms'],
    list_all: await timed(Math.ceil(TRIES / 10), () => everything(base)),
    page_of_1000: await timed(TRIES, () => text(`${base}${LIST}?size=1000`)),
    page_by_label: await timed(TRIES, (i) => text(`${base}${LIST}?filter[labels.team]=team-${i % 100}`)),
    get: await timed(TRIES, (i) => text(`${base}${LIST}/service-${i % SERVICES}`)),
    put: await timed(TRIES, (i) => put(base, `put-${i}`, 80)),
    puts_per_second_of_16_writers: await sideBySide(base),
    batch_of_1000_until_listed: await timed(Math.ceil(TRIES / 20), (i) => batch(base, store, i)),
    watchers: WATCHERS,
    write_to_last_watcher: await fanOut(base),
  };
  console.log(JSON.stringify(figures));
  await server.close();
  stop.abort();
  await following;
  await backend.close();
  await database.drop();
  await stopServices();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
