import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { createDnsServer } from '@causeway/dns/testing';
import { silentLogger, systemClock } from '@causeway/runtime';
import { followStore, ResourceIndex } from '@causeway/store';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { createTestDatabase } from '../test/support/postgres';
import { benchServices } from './support/services';
import { summary } from './support/summary';
import { addressOf, hostnameOf, serviceOf } from './support/dns-zone';

/**
 * Commit → answer (target: p50 ≤ 5 ms): a service with address and hostname is written to a real Postgres; timed is from
 * the write's return until the DNS server of a process that follows the log answers. BENCH_TRIES (200). One JSON line.
 */
const TRIES = Number(process.env['BENCH_TRIES'] ?? 200);

/** The question for a hostname's A record. */
function questionFor(hostname: string): Buffer {
  const labels = hostname.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
  const header = Buffer.from([0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([header, ...labels, Buffer.from([0, 0, 1, 0, 1])]);
}

/** Asks for the n-th service once; true when its address came, false when there is none yet. */
function answers(socket: Socket, { port, n }: { readonly port: number; readonly n: number }): Promise<boolean> {
  return new Promise((resolve, reject) => {
    socket.once('message', (answer: Buffer) => {
      if (answer.readUInt16BE(6) === 0) return resolve(false);
      if (answer.subarray(-4).join('.') === addressOf(n)) return resolve(true);
      reject(new Error('wrong address'));
    });
    socket.send(questionFor(hostnameOf(n)), port, '127.0.0.1');
  });
}

async function measure(url: string): Promise<void> {
  const backend = await createPostgresBackend({ url });
  const stop = new AbortController();
  const index = new ResourceIndex();
  const following = followStore(backend.store, index, {
    clock: systemClock,
    logger: silentLogger,
    signal: stop.signal,
  });
  await index.reached(0);
  const config = { limits: { ratePerClient: 0 }, forward: { enabled: false } };
  const server = createDnsServer({ index, zone: 'east', clock: systemClock, logger: silentLogger, config });
  const port = await server.bind('127.0.0.1', 0);
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const times: number[] = [];
  for (let n = 0; n < TRIES; n++) {
    const { id, labels, spec, status } = serviceOf(n);
    const change = { type: 'put', id, expect: 'any', labels, spec, ...(status ? { status } : {}) } as const;
    await backend.store.write({ changes: [change], onRefusal: 'abort' });
    const committed = performance.now();
    while (!(await answers(socket, { port, n })));
    times.push(performance.now() - committed);
  }
  console.log(JSON.stringify({ bench: 'dns-commit', ...summary(times) }));
  socket.close();
  await server.close();
  stop.abort();
  await following;
  await backend.close();
}

async function main(): Promise<void> {
  const stop = await benchServices();
  const database = await createTestDatabase();
  try {
    await measure(database.url);
  } finally {
    await database.drop();
    await stop();
  }
}

void main();
