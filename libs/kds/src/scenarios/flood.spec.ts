import { Client, credentials, status, type ServiceError } from '@grpc/grpc-js';
import { isJsonArray } from '@causeway/resources';
import type { LogFields, Logger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { RoughZone } from '../../../../test/support/rough-zone';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { encodeZoneHeaders } from '../wire/headers';
import { encodeRequest } from '../wire/request';
import { MAX_UNKNOWN_KINDS } from '../session/peer-limits';
import { kdsSyncService } from '../wire/kds-service';
import { untilSoon } from '../../../../test/support/until';

const SPEC = { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' };
const MIB = 1024 * 1024;
const NAMES = Array.from({ length: 40 }, (_, i) => `s${i}`);
const BOUNDS = { stream: 256 * 1024, process: MIB };

/** Resolves when a figure has stood still for many turns of the event loop. */
async function still(figure: () => number): Promise<number> {
  for (let turns = 0, last = figure(); turns < 500; turns++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (figure() === last) continue;
    last = figure();
    turns = 0;
  }
  return figure();
}

describe('a zone that floods', () => {
  let global: TestGlobal;
  let flood: RoughZone;
  const lines: { readonly message: string; readonly fields: LogFields | undefined }[] = [];
  const say = (message: string, fields?: LogFields): void => void lines.push({ message, fields });
  const logger: Logger = { debug: say, info: say, warn: say, error: say, child: () => logger };

  beforeEach(async () => {
    lines.length = 0;
    global = new TestGlobal({ logger, clock: new FakeClock(1_000_000), inbound: { bounds: BOUNDS } });
    await global.put('Mesh', 'default', {});
    await global.serve();
    flood = new RoughZone('flood', global.port);
    await flood.join();
  });

  afterEach(async () => {
    flood.leave();
    await global.close();
  });

  const ports = (): (number | undefined)[] =>
    [...global.index.ofKind('MeshService')].map(({ spec }) => {
      const [first] = isJsonArray(spec['ports']) ? spec['ports'] : [];
      return typeof first === 'object' && first !== null && 'port' in first ? Number(first['port']) : undefined;
    });

  /** Sends states one after another, each of all names. */
  const pour = async (messages: number): Promise<Buffer[]> => {
    const stream = await flood.openUp();
    const sent = Array.from({ length: messages }, (_, i) =>
      flood.response(NAMES.map((name) => flood.service(name, i + 1, 10))),
    );
    for (const bytes of sent) flood.say(stream, bytes);
    return sent;
  };

  it('is not read while its messages cannot be written, and is taken in whole and in order afterwards', async () => {
    const MESSAGES = 60;
    await global.holds(global.id('Zone', 'flood'));
    // The written resource is not visible: the writer waits.
    global.gate.shut();
    const sent = await pour(MESSAGES);
    const size = sent[0]?.length ?? 0;
    expect(size).toBeGreaterThan(16 * 1024);
    // 500 changes are written; then the bound, the window of HTTP/2, and the message that is just being read.
    const accepted = await still(() => flood.accepted);
    expect(accepted).toBeLessThan(500 / NAMES.length + (BOUNDS.stream + 64 * 1024) / size + 16);
    const costs = global.sync?.metrics();
    expect(costs?.heldBack).toBe(1);
    expect(costs?.queuedBytes).toBeGreaterThan(BOUNDS.stream);
    expect(costs?.queuedBytes).toBeLessThan(BOUNDS.stream + 3 * size);
    global.gate.open();
    await untilSoon(() => flood.answers().length === MESSAGES);
    expect(flood.answers()).toEqual(Array.from({ length: MESSAGES }, (_, i) => String(i + 1)));
    await global.until(() => ports().every((port) => port === MESSAGES));
    expect(ports()).toHaveLength(NAMES.length);
    expect(global.sync?.metrics()).toMatchObject({ queuedBytes: 0, heldBack: 0 });
  });

  it('that goes away while it is not read leaves nothing behind', async () => {
    await global.holds(global.id('Zone', 'flood'));
    global.gate.shut();
    await pour(80);
    await untilSoon(() => global.sync?.metrics().heldBack === 1);
    flood.leave();
    await global.left('flood');
    expect(global.sync?.metrics()).toMatchObject({ queuedBytes: 0, heldBack: 0 });
  });

  it('waits behind itself: what another zone sends goes in between', async () => {
    const east = new TestZone('east');
    await east.join(global);
    await east.holds(global.id('Mesh', 'default'));
    const MESSAGES = 60;
    void pour(MESSAGES);
    await untilSoon(() => flood.answers().length > 0);
    await east.put('MeshService', 'a', SPEC);
    await global.holds(east.id('MeshService', 'a'));
    expect(flood.answers().length).toBeLessThan(MESSAGES / 2);
    await untilSoon(() => flood.answers().length === MESSAGES);
    await east.close();
  });

  it('is ended with the reason for a message of more than 2 MiB, and its insight says so', async () => {
    const stream = await flood.openUp();
    const removed = Array.from({ length: 19_000 }, (_, i) => ({ name: `${'x'.repeat(120)}${i}`, mesh: 'default' }));
    flood.say(stream, flood.response([], { removed }));
    const { code, details } = await flood.ended;
    expect(code).toBe(status.RESOURCE_EXHAUSTED);
    expect(details).toMatch(/a response has \d+ bytes; at most 2097152 are taken/);
    const insight = await global.sync?.findInsight(await global.holds(global.id('Zone', 'flood')));
    expect(insight).toMatchObject({ endedStream: { direction: 'up', reason: 'exhausted', detail: details } });
    expect(global.sync?.metrics().ended).toBe(1);
  });

  it('is not blamed for a stream that could not begin: its caller may be anybody', async () => {
    await flood.openUp();
    const liar = new Client(`127.0.0.1:${global.port}`, credentials.createInsecure());
    const { path, requestSerialize, responseDeserialize } = kdsSyncService.zoneToGlobalSync;
    const headers = encodeZoneHeaders({ zone: 'flood', version: 'x'.repeat(1_000) });
    const stream = liar.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, headers);
    const code = await new Promise((resolve) => stream.on('error', (error: ServiceError) => resolve(error.code)));
    liar.close();
    expect(code).toBe(status.INVALID_ARGUMENT);
    const insight = await global.sync?.findInsight(await global.holds(global.id('Zone', 'flood')));
    expect(insight).not.toHaveProperty('endedStream');
  });

  it('is ended for a message of millions of empty parts before one is made', async () => {
    const stream = await flood.openUp();
    // Field 2, length 0.
    flood.say(stream, Buffer.from('1200'.repeat(1_000_000), 'hex'));
    expect(await flood.ended).toMatchObject({ code: status.RESOURCE_EXHAUSTED, details: /more than 20100 parts/ });
  });

  it('that invents kinds is ended at one too many, and none of them is remembered', async () => {
    const stream = await flood.openUp();
    for (let i = 0; i < MAX_UNKNOWN_KINDS + 6; i++) {
      flood.say(stream, flood.response([{ ...flood.service('a', 1), kind: `Invented${i}` }], { kind: `Invented${i}` }));
    }
    expect(await flood.ended).toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      details: `more than ${MAX_UNKNOWN_KINDS} kinds that are not known here`,
    });
    const entries = await global.store.listMetadata('sync/flood');
    expect(entries.filter(({ key }) => key.includes('Invented'))).toEqual([]);
    expect(lines.length).toBeLessThan(30);
  });

  it('that sends one unknown kind gets a rejection, and goes on', async () => {
    const stream = await flood.openUp();
    flood.say(stream, flood.response([{ ...flood.service('a', 1), kind: 'Odd' }], { kind: 'Odd' }));
    await untilSoon(() => flood.answers().length === 1);
    expect(flood.heard.at(-1)).toMatchObject({ type: 'nack', message: /kind Odd is not known here/ });
    flood.say(stream, flood.response([flood.service('a', 1)]));
    await untilSoon(() => ports().length === 1);
  });

  it('that asks for kinds that nobody knows is ended at one too many', async () => {
    const stream = flood.openDown();
    for (let i = 0; i < MAX_UNKNOWN_KINDS + 6; i++) {
      flood.say(stream, encodeRequest({ type: 'subscribe', kind: `Invented${i}`, zone: 'flood', held: {} }));
    }
    expect(await flood.ended).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
  });

  it('with refused resources gets a bounded answer and writes few lines', async () => {
    const stream = await flood.openUp();
    const bytes = flood.refused(Array.from({ length: 600 }, (_, i) => `s${i}`));
    for (let i = 0; i < 25; i++) flood.say(stream, bytes);
    await untilSoon(() => flood.answers().length === 25);
    const answer = flood.heard.find(({ type }) => type === 'nack');
    if (answer?.type !== 'nack') throw new Error('not refused');
    expect(answer.message.length).toBeLessThanOrEqual(17 * 1024);
    expect(answer.message).toMatch(/600 in all$/);
    expect(answer.results.length).toBe(600);
    expect(encodeRequest(answer).length).toBeLessThan(MIB);
    const said = lines.filter(({ message }) => message === 'rejected resources of the peer');
    expect(said.length).toBeLessThanOrEqual(20);
    for (const line of said) expect(JSON.stringify(line).length).toBeLessThan(8 * 1024);
    expect(said[0]?.fields).toMatchObject({ total: 600 });
  });

  it('that reads no answers is not heard until it reads', async () => {
    const stream = await flood.openUp();
    stream.pause();
    const bytes = flood.refused(Array.from({ length: 200 }, (_, i) => `${'n'.repeat(200)}${i}`));
    for (let i = 0; i < 150; i++) flood.say(stream, bytes);
    await still(() => flood.accepted);
    expect(flood.accepted).toBeLessThan(150);
    expect(global.sync?.metrics().queuedBytes).toBeLessThan(2 * BOUNDS.stream);
    stream.resume();
    await untilSoon(() => flood.answers().length === 150);
  });
});
