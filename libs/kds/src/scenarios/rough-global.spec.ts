import { connect } from 'node:http2';
import { Server, ServerCredentials, status, type ServerDuplexStream } from '@grpc/grpc-js';
import { FakeClock } from '@causeway/runtime/testing';
import type { Change } from '@causeway/store';
import { KumaGlobal } from '../../../../test/support/kuma-global';
import { kumaResponse } from '../../../../test/support/kuma-zone';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { MAX_UNKNOWN_KINDS } from '../session/peer-limits';
import { encodeRequest } from '../wire/request';
import { kdsSyncService } from '../wire/kds-service';
import { untilSoon } from '../../../../test/support/until';

type GlobalCall = ServerDuplexStream<Buffer, Buffer>;

/** A global that floods each client with messages of any content. */
class RoughGlobal {
  port = 0;
  accepted = 0;
  answers = 0;
  readonly ends: number[] = [];
  private readonly server = new Server();

  constructor(private readonly flood: readonly Buffer[]) {}

  async serve(): Promise<void> {
    this.server.addService(kdsSyncService, {
      globalToZoneSync: (call: GlobalCall) => this.begin(call),
      zoneToGlobalSync: (call: GlobalCall) => void call.on('data', () => undefined).on('error', () => undefined),
    });
    this.port = await new Promise<number>((resolve, reject) => {
      this.server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
        error ? reject(error) : resolve(port),
      );
    });
  }

  close(): void {
    this.server.forceShutdown();
  }

  private begin(call: GlobalCall): void {
    call.on('error', () => undefined);
    call.on('cancelled', () => this.ends.push(status.CANCELLED));
    call.on('data', () => this.answers++);
    for (const bytes of this.flood) call.write(bytes, () => this.accepted++);
  }
}

const MESHES = Array.from({ length: 200 }, (_, i) => `m${i}`);

function meshes(nonce: number): Buffer {
  const resources = MESHES.map((name) => {
    const labels = { 'kuma.io/origin': 'global', note: `${'x'.repeat(40)}${nonce}` };
    return { kind: 'Mesh', mesh: '', name, labels, spec: {} };
  });
  return kumaResponse('Mesh', nonce, resources);
}

it('a global that floods is not read while its messages cannot be written', async () => {
  const FLOOD = 60;
  const zone = new TestZone('west', { inbound: { stream: 128 * 1024, process: 256 * 1024 } });
  const flood = Array.from({ length: FLOOD }, (_, i) => meshes(i + 1));
  const global = new RoughGlobal(flood);
  await global.serve();
  zone.gate.shut();
  await zone.join(global);
  await untilSoon(() => global.accepted > 0);
  for (let turns = 0, last = global.accepted; turns < 500; turns++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (global.accepted !== last) [turns, last] = [0, global.accepted];
  }
  expect(global.accepted).toBeLessThan(FLOOD);
  zone.gate.open();
  const last = `${'x'.repeat(40)}${FLOOD}`;
  await zone.until(() => [...zone.index.ofKind('Mesh')].filter(({ labels }) => labels['note'] === last).length === 200);
  await zone.close();
  global.close();
});

it('a global that invents kinds loses its session, and the zone goes on', async () => {
  const inventions = Array.from({ length: MAX_UNKNOWN_KINDS + 6 }, (_, i) => kumaResponse(`Invented${i}`, i + 1, []));
  const [zone, rough] = [new TestZone('west'), new RoughGlobal(inventions)];
  await rough.serve();
  await zone.join(rough);
  await untilSoon(() => rough.ends.length > 0);
  await untilSoon(() => zone.sync?.status().lastError?.includes(`more than ${MAX_UNKNOWN_KINDS} kinds`) === true);
  await zone.leave();
  rough.close();
  const kuma = new KumaGlobal();
  kuma.state.set('Mesh', [{ kind: 'Mesh', mesh: '', name: 'default', labels: {}, spec: {} }]);
  await kuma.serve();
  await zone.join(kuma);
  await zone.holds(zone.id('Mesh', 'default'));
  await zone.close();
  kuma.close();
});

/** Opens GlobalToZoneSync as the plain zone `slow`, below gRPC, and never reads; the returned function closes it. */
function openUnread(port: number, kinds: readonly string[]): () => void {
  const session = connect(`http://127.0.0.1:${port}`).on('error', () => undefined);
  const path = kdsSyncService.globalToZoneSync.path;
  const headers = { 'content-type': 'application/grpc', te: 'trailers', 'client-id': 'slow' };
  const stream = session.request({ ':method': 'POST', ':path': path, ...headers });
  stream.on('error', () => undefined).pause();
  for (const kind of kinds) {
    const bytes = encodeRequest({ type: 'subscribe', kind, zone: 'slow', held: {} });
    const frame = Buffer.alloc(5);
    frame.writeUInt32BE(bytes.length, 1);
    stream.write(Buffer.concat([frame, bytes]));
  }
  return () => session.destroy();
}

it('a Kuma zone that reads nothing is ended after a minute, when its buffers are full', async () => {
  const clock = new FakeClock(1_000_000);
  const global = new TestGlobal({ clock });
  await global.put('Mesh', 'default', {});
  await global.serve();
  const id = (name: string): Change => {
    const at = global.id('Mesh', name);
    return { type: 'put', id: at, expect: 'any', labels: { note: 'x'.repeat(200) }, spec: {} };
  };
  await global.write(Array.from({ length: 1_000 }, (_, i) => id(`m${i}`)));
  const unread = openUnread(global.port, ['Mesh', ...Array.from({ length: 40 }, (_, i) => `Unknown${i}`)]);
  await untilSoon(() => (global.sync?.metrics().unansweredBytes ?? 0) > 200_000);
  for (let turns = 0; turns < 500; turns++) await new Promise((resolve) => setImmediate(resolve));
  clock.advance(59_000);
  expect(global.sync?.reports().has('slow')).toBe(true);
  clock.advance(10_000);
  await global.left('slow');
  unread();
  await global.close();
});
