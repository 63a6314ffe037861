import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { EvilZone } from '../test/attack/evil-zone';
import { ProcessMesh } from '../test/support/process-mesh';
import type { ProcessPlane } from '../test/support/process-plane';
import { numberSetting, report } from './support/report';
import { benchServices } from './support/services';
import { adminFetch } from '../test/support/admin-credential';

/**
 * Measures how long an input of 1 MB (in YAML 256 kB, in a DNS packet 64 kB: more is not taken) holds the event loop of a running
 * control plane, at each entry point, over a global and a zone as processes with a real Postgres. The process itself
 * measures (`nodejs_eventloop_lag_max_seconds`, without the 10 ms between its looks). Prints one JSON line; the aim is 50 ms.
 * BENCH_TRIES (5) per case; the shortest and the longest are printed, because other load on the machine makes them longer.
 */
const TRIES = numberSetting('BENCH_TRIES', 5);
const MEGABYTE = 1_000_000;
/** The process looks every so many ms, and a look that is on time counts as so long. */
const RESOLUTION = 10;
const SERVICES = '/meshes/default/meshservices';

/** One input, and which control plane it comes to. */
interface Case {
  readonly name: string;
  readonly plane: ProcessPlane;
  readonly send: () => Promise<unknown>;
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  try {
    const mesh = await ProcessMesh.start(['east']);
    try {
      report('bounds', { tries: TRIES, holds_ms: await holdsOf(mesh) });
    } finally {
      await mesh.stop();
    }
  } finally {
    await stopServices();
  }
}

async function holdsOf(mesh: ProcessMesh): Promise<Readonly<Record<string, unknown>>> {
  const holds: [string, unknown][] = [];
  for (const { name, plane, send } of await casesOf(mesh)) {
    const times: number[] = [];
    for (let n = 0; n < TRIES; n++) {
      await holdOf(plane);
      await send();
      // The end of a hold is noticed at the next look.
      await pause(3 * RESOLUTION);
      times.push(await holdOf(plane));
    }
    holds.push([name, { least: Math.min(...times), longest: Math.max(...times) }]);
  }
  return Object.fromEntries(holds);
}

/** The longest hold since it was asked for last, ms. */
async function holdOf(plane: ProcessPlane): Promise<number> {
  const metrics = await (await fetch(`${plane.diagnosticsUrl}/metrics`)).text();
  const seconds = Number(/^\w*nodejs_eventloop_lag_max_seconds(?:\{[^}]*\})? (\S+)/m.exec(metrics)?.[1] ?? NaN);
  return Math.round(Math.max(0, seconds * 1_000 - RESOLUTION) * 10) / 10;
}

async function casesOf(mesh: ProcessMesh): Promise<readonly Case[]> {
  const east = mesh.zone('east');
  return [
    { name: 'nothing', plane: east, send: () => pause(100) },
    ...restCases(east),
    ...watchCases(east),
    ...(await zoneCases(mesh)),
    { name: 'dns packet over TCP', plane: east, send: () => tcp(east.dnsAddress, dnsPacket()) },
  ];
}

function restCases(east: ProcessPlane): readonly Case[] {
  const put = (name: string, body: string, type = 'json', dryRun = true): Case => ({
    name,
    plane: east,
    send: () => request(`${east.restUrl}${SERVICES}/bench${dryRun ? '?dryRun=true' : ''}`, body, type),
  });
  const service = (spec: string): string => `{"type":"MeshService","mesh":"default","name":"bench","spec":${spec}}`;
  const ports = (item: (i: number) => string, size = MEGABYTE): string => service(`{"ports":[${filled(size, item)}]}`);
  const good = JSON.stringify({ selector: { dataplaneTags: { app: 'x' } }, ports: [{ port: 80 }] });
  const tags = filled(10_000, (i) => `"k${i}":"v"`);
  return [
    put('JSON: small', service(good)),
    put(
      'JSON: ports {}',
      ports(() => '{}'),
    ),
    put(
      'JSON: good ports',
      ports((i) => `{"port":${(i % 65_535) + 1}}`),
    ),
    put('JSON: unknown fields', `{"type":"MeshService","name":"bench",${filled(MEGABYTE, (i) => `"field${i}":1`)}}`),
    put('JSON: one long text', service(`{"state":"${'x'.repeat(MEGABYTE)}"}`)),
    put(
      'JSON: many labels',
      `{"type":"MeshService","name":"bench","labels":{${filled(MEGABYTE, (i) => `"k${i}":"v"`)}}}`,
    ),
    put('JSON: written', service(`{"selector":{"dataplaneTags":{${tags}}},"ports":[{"port":80}]}`), 'json', false),
    put('YAML: quotes', '"'.repeat(250_000), 'yaml'),
    put('YAML: lists in lists', '[ '.repeat(125_000), 'yaml'),
    put(
      'YAML: good ports',
      ports((i) => `{"port":${(i % 65_535) + 1}}`, 250_000),
      'yaml',
    ),
  ];
}

/** A hundred watches, and a service of theirs that changes. */
function watchCases(east: ProcessPlane): readonly Case[] {
  let turn = 0;
  const send = async (): Promise<void> => {
    const stop = new AbortController();
    const watch = async (): Promise<void> => {
      const answer = await adminFetch(`${east.restUrl}${SERVICES}?watch=true`, { signal: stop.signal });
      void answer.body?.pipeTo(new WritableStream()).catch(() => undefined);
    };
    await Promise.all(Array.from({ length: 100 }, watch));
    const labels = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`l${i}`, 'x'.repeat(63)]));
    const ports = Array.from({ length: 100 }, (_, i) => ({ port: i + 1, name: `p${i}-${turn}` }));
    turn++;
    const body = { type: 'MeshService', mesh: 'default', name: 'watched', labels, spec: { ports } };
    await request(`${east.restUrl}${SERVICES}/watched`, JSON.stringify(body), 'json');
    stop.abort();
  };
  return [{ name: 'watches: 100 of a large service', plane: east, send }];
}

/** Messages of a zone to the global: good ones, and one service that is no good. */
async function zoneCases(mesh: ProcessMesh): Promise<readonly Case[]> {
  const target = {
    kds: mesh.global.kdsAddress,
    ca: await mesh.global.text('/kds/ca'),
    tokens: { bench: await mesh.zoneToken('bench') },
  };
  const sent = (name: string, message: Parameters<EvilZone['message']>[0]): Case => ({
    name,
    plane: mesh.global,
    send: async () => {
      const zone = new EvilZone('bench', target);
      const { session } = await zone.handshake();
      const stream = zone.stream('up', session);
      await pause(300);
      await holdOf(mesh.global);
      stream.send(zone.message(message));
      await pause(500);
      stream.cancel();
      zone.close();
      await pause(500);
    },
  });
  const ports = Array.from({ length: 330_000 }, () => ({}));
  const services = Array.from({ length: 3_000 }, (_, i) => ({ name: `s${i}`, spec: { ports: [{ port: 80 }] } }));
  return [
    sent('KDS: 3,000 services', { resources: services }),
    sent('KDS: a service of 330,000 ports', { resources: [{ spec: { ports } }] }),
    sent('KDS: a label of 1 MB', { resources: [{ labels: { a: 'x'.repeat(MEGABYTE) } }] }),
    sent('KDS: a template of 1 MB', {
      kind: 'HostnameGenerator',
      resources: [{ mesh: '', spec: { selector: { meshService: {} }, template: '{{'.repeat(MEGABYTE / 2) } }],
    }),
  ];
}

async function request(url: string, body: string, type: string): Promise<void> {
  const answer = await adminFetch(url, { method: 'PUT', body, headers: { 'content-type': `application/${type}` } });
  await answer.arrayBuffer();
}

function filled(size: number, item: (i: number) => string): string {
  const items: string[] = [];
  for (let length = 0, i = 0; length < size; i++) {
    items.push(item(i));
    length += (items.at(-1)?.length ?? 0) + 1;
  }
  return items.join(',');
}

/** A question with as many records behind it as a packet holds. */
function dnsPacket(): Buffer {
  const question = Buffer.from('00000100000100000000ffff0161016200 00010001'.replaceAll(' ', ''), 'hex');
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 1, 2, 3, 4]);
  const packet = Buffer.concat([question, ...Array<Buffer>(4_000).fill(record)]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(packet.length);
  return Buffer.concat([length, packet]);
}

function tcp(place: string, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const [host, port] = place.split(':');
    const socket = connect(Number(port), host, () => socket.write(bytes));
    socket.on('data', () => socket.destroy()).on('error', () => undefined);
    socket.setTimeout(2_000, () => socket.destroy());
    socket.on('close', () => resolve());
  });
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
