import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import { createCsr, csrKey } from '../../support/csr';
import { deltaClient, type DeltaClient } from '../../support/ads-client';
import { textOf, type Arena, type Attack, type ProxyTarget } from '../target';

const { cluster, endpoints, listener, secret } = RESOURCE_TYPES;
/** Source address of connections that exceed what one client may have: its limit must not affect other addresses. */
const CROWD = '127.0.0.9';
/** Time for which a blow waits for the zone's reaction, ms. */
const PATIENCE = 5_000;
/** A proxy that behaves is answered in this time, whatever others do, ms. */
const SERVED = 30_000;

/** Proxies with a valid token that send what no proxy would, programs that are no proxies, and one proxy that behaves. */
export function proxyAttacks(): readonly Attack[] {
  return [
    { name: 'a proxy that behaves', pause: 1_000, strike: (arena) => eachZone(arena, behaves) },
    ads('ADS garbage', (client) => Array.from({ length: 20 }, () => client.sendBytes(randomBytes(1_000)))),
    ads('ADS 100,000 names', (client, turn) => {
      const type = [endpoints, cluster, listener][turn % 3];
      const names = Array.from({ length: 100_000 }, (_, i) => `vip:127.9.${i >> 8}.${i & 255}:${turn % 60_000}`);
      client.send({ typeUrl: type, resourceNamesSubscribe: names });
    }),
    ads('ADS 40,000 names that are not there', (client, turn) => {
      const names = Array.from({ length: 40_000 }, (_, i) => `kri_msvc_default_east__s${turn}x${i}_80`);
      client.send({ typeUrl: cluster, resourceNamesSubscribe: names });
    }),
    ads('ADS wrong nonces', (client) =>
      Array.from({ length: 1_000 }, (_, i) => client.send({ typeUrl: cluster, responseNonce: `n${i}` })),
    ),
    ads('ADS small requests', (client) =>
      Array.from({ length: 5_000 }, (_, i) => client.send({ typeUrl: cluster, resourceNamesSubscribe: [`s${i}`] })),
    ),
    ads('ADS metadata of 8 MB', (client) =>
      client.send({ node: { id: 'default.evil', metadata: { big: 'x'.repeat(8 * 1024 * 1024) } }, typeUrl: cluster }),
    ),
    { name: 'ADS proxies that never ack', pause: 1_000, strike: (arena) => eachZone(arena, neverAck) },
    { name: 'CSRs by the hundred', pause: 500, strike: (arena) => eachZone(arena, csrs) },
    { name: 'xDS connections by the thousand', pause: 5_000, strike: (arena) => eachZone(arena, crowd) },
    { name: 'hostile bootstraps', pause: 200, strike: (arena, turn) => eachZone(arena, (one) => boot(one, turn)) },
  ];
}

/** One zone as an attack meets it. */
interface Blow extends ProxyTarget {
  readonly arena: Arena;
}

async function eachZone(arena: Arena, strike: (blow: Blow) => Promise<void>): Promise<void> {
  await Promise.all(Object.values(arena.target.proxies).map((target) => strike({ ...target, arena })));
}

/** An attack on one stream with a valid token; looks what becomes of it. */
function ads(name: string, send: (client: DeltaClient, turn: number) => unknown): Attack {
  const strike = (turn: number) =>
    withClient(async (client, { arena }) => {
      send(client, turn);
      await Promise.race([client.end().catch(() => undefined), pause(PATIENCE)]);
      const { ended, responses } = client;
      const stays = `${responses.length > 0 ? 'answered' : 'silent'}, stream open`;
      arena.tally.note(name, ended ? `ended: ${ended.message}` : stays);
    });
  return { name, pause: 500, strike: (arena, turn) => eachZone(arena, strike(turn)) };
}

function withClient(work: (client: DeltaClient, blow: Blow) => Promise<void>, node = 'default.evil') {
  return async (blow: Blow): Promise<void> => {
    const client = deltaClient(blow.port, node, blow.tokens[node] ?? '');
    try {
      await work(client, blow);
    } finally {
      await client.close().catch(() => undefined);
    }
  };
}

async function behaves(blow: Blow): Promise<void> {
  const { tally, stop } = blow.arena;
  await withClient(async (client) => {
    client.send({ typeUrl: cluster });
    for (let waited = 0; waited < SERVED && client.responses.length === 0 && !client.ended; waited += 100)
      await pause(100);
    const isServed = client.responses.length > 0;
    const why = client.ended?.message ?? `no answer in ${SERVED} ms`;
    tally.note('a proxy that behaves', isServed ? 'served' : why);
    if (!isServed && !stop.aborted) tally.note('BREACH', `a proxy that behaves was not served: ${why}`);
  }, 'default.good')(blow);
}

/** Reads the responses and acks none; the zone ends the stream after a minute. */
async function neverAck(blow: Blow): Promise<void> {
  const clients = Array.from({ length: 10 }, () =>
    deltaClient(blow.port, 'default.evil', blow.tokens['default.evil'] ?? ''),
  );
  for (const client of clients)
    for (const typeUrl of [cluster, listener, endpoints]) client.send({ typeUrl, resourceNamesSubscribe: ['*'] });
  await pause(PATIENCE);
  const ended = clients.find((client) => client.ended)?.ended;
  blow.arena.tally.note('ADS proxies that never ack', ended ? `ended: ${ended.message}` : 'streams open');
  await Promise.all(clients.map((client) => client.close().catch(() => undefined)));
}

/** Each stream asks for a certificate of its own. */
async function csrs(blow: Blow): Promise<void> {
  const csr = await createCsr(await csrKey());
  const metadata = { 'causeway.io/csr': csr, 'causeway.io/key-file': '/key.pem' };
  for (let n = 0; n < 20 && !blow.arena.stop.aborted; n++)
    await withClient(async (client) => {
      client.send({ node: { id: 'default.evil', metadata }, typeUrl: secret, resourceNamesSubscribe: ['identity'] });
      await client.response(0).then(
        () => blow.arena.tally.note('CSRs by the hundred', 'signed'),
        (error: unknown) => blow.arena.tally.note('CSRs by the hundred', textOf(error)),
      );
    })(blow);
}

/** Opens connections that send nothing, half a preface, or bytes of no protocol. */
async function crowd({ arena, port }: Blow): Promise<void> {
  const said = ['', 'PRI * HTT', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\u00ff\u00ff', '\u0016\u0003\u0001\u0002'];
  const sockets = Array.from({ length: 1_500 }, (_, i): Socket => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: CROWD }).on('error', () => undefined);
    socket.write(said[i % said.length] ?? '');
    return socket;
  });
  await Promise.race([pause(PATIENCE), new Promise((over) => arena.stop.addEventListener('abort', over))]);
  const open = sockets.filter((socket) => !socket.destroyed).length;
  arena.tally.note('xDS connections by the thousand', open > 0 ? 'some stay open' : 'all were ended');
  for (const socket of sockets) socket.destroy();
}

async function boot({ arena, port, tokens }: Blow, turn: number): Promise<void> {
  const token = tokens['default.evil'] ?? '';
  const bodies = [
    '{'.repeat(100_000),
    JSON.stringify({ name: 'x'.repeat(400_000), features: Array.from({ length: 20_000 }, () => ({})) }),
    JSON.stringify({ name: 'evil', dataplaneToken: token, dataplaneResource: '{"a":'.repeat(20_000) }),
    JSON.stringify({ name: `evil${turn}`, dataplaneToken: token, dynamicMetadata: { a: 'x'.repeat(300_000) } }),
    'x'.repeat(2_000_000),
  ];
  for (const body of bodies)
    await new Promise<void>((resolve) => {
      const call = request({ port, host: '127.0.0.1', method: 'POST', path: '/bootstrap', agent: false }, (answer) => {
        arena.tally.status('hostile bootstraps', answer.statusCode ?? 0);
        if (answer.statusCode === 500) arena.tally.note('BREACH', 'a bootstrap caused a 500');
        answer.resume().on('end', resolve).on('error', resolve);
      });
      call.on('error', () => resolve()).end(body);
    });
}
