import { Readable } from 'node:stream';
import { systemClock } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { BodyParser, UnreadBody } from './body-parser';
import { BODY_WORKER_LIMITS } from './body-worker-pool';
import { parseBody } from './body-decode';
import { toProblem } from './problem.filter';
import { RequestSignals } from './request-signals';

const LIMITS = { yaml: 256 * 1024 };

function bodyOf(body: string | Buffer, type = 'application/json'): UnreadBody {
  return new UnreadBody({ headers: { 'content-type': type } }, Readable.from([Buffer.from(body)]), 1024 * 1024);
}

/** Text that YAML takes very long to read. */
const ENDLESS = '"'.repeat(250_000);

describe('BodyParser', () => {
  let reader = new BodyParser(LIMITS, new RequestSignals(systemClock, 1), systemClock);
  /** Starting a thread takes a while: tests that end no thread share one. */
  const shared = new BodyParser(LIMITS, new RequestSignals(systemClock, 600_000), systemClock);
  const open = (limits = BODY_WORKER_LIMITS, requestSignals = new RequestSignals(systemClock, 600_000)): BodyParser =>
    (reader = new BodyParser(LIMITS, requestSignals, systemClock, limits));
  const problem = async (work: Promise<unknown>): Promise<readonly [number, string]> => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const { status, detail } = toProblem(error, '').problem;
    return [status, detail];
  };
  afterEach(() => reader.close());
  afterAll(() => shared.close());

  const filler = 'x'.repeat(70_000);
  it.each<[string, string, string]>([
    ['JSON', 'application/json', JSON.stringify({ a: [1, null, true, 'ü'], filler })],
    ['JSON with a key that prototypes have', 'application/json', `{"__proto__":{"a":1},"filler":"${filler}"}`],
    ['YAML', 'application/yaml', `a: [1, null, true, ü]\nfiller: ${filler}`],
    ['YAML with a key that prototypes have', 'application/yaml', `__proto__: {a: 1}\nfiller: ${filler}`],
    ['YAML with numbers that no JSON has', 'application/yaml', `a: [.inf, .nan, -.inf]\nfiller: ${filler}`],
  ])('reads large %s as it reads small bodies', async (_, type, body) => {
    const read = await shared.parse(bodyOf(body, type));
    const wanted = parseBody(type.endsWith('json') ? 'json' : 'yaml', Buffer.from(body));
    expect(read).toEqual(wanted);
    expect(Object.keys(Object(read))).toEqual(Object.keys(Object(wanted)));
    expect(shared.workers.size).toBe(1);
  });

  it.each<[string, string, string | Buffer]>([
    ['broken JSON', 'application/json', `{"a":1,\n"b":"${filler}"\n,,}`],
    ['JSON that is not UTF-8', 'application/json', Buffer.concat([Buffer.from(filler), Buffer.from([0xff])])],
    ['broken YAML', 'application/yaml', `a: ${filler}\nb: [1\nc: 2`],
    ['YAML with a key twice', 'application/yaml', `a: ${filler}\na: 1`],
    ['YAML with a template without quotes', 'application/yaml', `filler: ${filler}\ntemplate: {{ name }}.mesh`],
    ['several documents', 'application/yaml', `a: ${filler}\n---\nb: 1`],
    ['nothing but space', 'application/yaml', ' '.repeat(70_000)],
  ])('says of large %s what it says of small', async (_, type, body) => {
    const large = await problem(shared.parse(bodyOf(body, type)));
    const wanted = await problem(
      Promise.resolve().then(() => parseBody(type.endsWith('json') ? 'json' : 'yaml', Buffer.from(body))),
    );
    expect(large).toEqual(wanted);
    expect(large[0]).toBe(400);
  });

  it.each<[string, string]>([
    ['values', `[${'{},'.repeat(100_000)}{}]`],
    ['nesting', '['.repeat(60_000) + ']'.repeat(60_000)],
    ['keys', `{${Array.from({ length: 10_000 }, (_, i) => `"key${i}":1`).join(',')}}`],
    ['keys in YAML', Array.from({ length: 7_000 }, (_, i) => `key${i}: 1`).join('\n')],
  ])('refuses a body of too many %s', async (name, body) => {
    const type = name.endsWith('YAML') ? 'application/yaml' : 'application/json';
    const [status, detail] = await problem(shared.parse(bodyOf(body, type)));
    expect([status, detail]).toEqual([400, expect.stringMatching(/more than \d+ keys/)]);
  });

  it('ends the thread of a body that takes too long, and reads the next', async () => {
    open({ ...BODY_WORKER_LIMITS, workers: 1, timeout: 100 });
    const [status, detail] = await problem(reader.parse(bodyOf(ENDLESS, 'application/yaml')));
    expect([status, detail]).toEqual([400, expect.stringMatching(/^The body of 250000 bytes takes more than 0.1 s/)]);
    await reader.close();
    expect(await open().parse(bodyOf(JSON.stringify({ filler })))).toEqual({ filler });
  });

  it('gives up a body whose request is given up, at work or waiting', async () => {
    const clock = new FakeClock();
    open({ ...BODY_WORKER_LIMITS, workers: 1, timeout: 600_000 }, new RequestSignals(clock, 1_000));
    const reads = [1, 2].map(() => problem(reader.parse(bodyOf(ENDLESS, 'application/yaml'))));
    while (reader.workers.busy < 2) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1_000);
    expect((await Promise.all(reads)).map(([status]) => status)).toEqual([503, 503]);
    expect(reader.workers.busy).toBe(0);
  });

  it('lets no more wait than it is allowed to', async () => {
    open({ ...BODY_WORKER_LIMITS, workers: 1, queued: 2, timeout: 600_000 });
    const reads = [1, 2].map(() => problem(reader.parse(bodyOf(ENDLESS, 'application/yaml'))));
    expect(await problem(reader.parse(bodyOf(ENDLESS, 'application/yaml')))).toEqual([503, expect.any(String)]);
    await reader.close();
    expect((await Promise.all(reads)).map(([status]) => status)).toEqual([503, 503]);
    expect(reader.workers.size).toBe(0);
  });

  it('ends a thread that has had no work for long', async () => {
    const clock = new FakeClock();
    reader = new BodyParser(LIMITS, new RequestSignals(clock, 600_000), clock);
    await reader.parse(bodyOf(JSON.stringify({ filler })));
    expect(reader.workers.size).toBe(1);
    clock.advance(BODY_WORKER_LIMITS.idleTimeout);
    expect(reader.workers.size).toBe(0);
  });
});
