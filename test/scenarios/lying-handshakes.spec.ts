import { status } from '@grpc/grpc-js';
import type { JsonObject } from '@causeway/resources';
import type { Logger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import type { ZoneAuthenticator } from '@causeway/kds';
import { DEFAULT_ATTEMPTS } from '@causeway/kds/testing';
import { TestGlobal, TestZone } from '../support/sync-mesh';
import { RawHandshaker, type Shaken } from './raw-handshake';

const SPEC = { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' };
const HUGE = 2 ** 52;

describe('a zone that lies in its handshake', () => {
  let clock: FakeClock;
  let lines: { message: string; fields: Record<string, unknown> }[];
  let global: TestGlobal;
  let west: TestZone;
  let liar: RawHandshaker;

  beforeEach(async () => {
    clock = new FakeClock(1_000_000);
    lines = [];
    const warn: Logger['warn'] = (message, fields = {}) => void lines.push({ message, fields: { ...fields } });
    const logger: Logger = { debug: () => undefined, info: () => undefined, warn, error: warn, child: () => logger };
    const auth: ZoneAuthenticator = {
      authenticate: ({ token }) => (token === 'wrong' ? Promise.reject(new Error('not you')) : Promise.resolve({})),
    };
    global = new TestGlobal({ clock, attempts: DEFAULT_ATTEMPTS, logger, auth });
    west = new TestZone('west');
    await global.put('Mesh', 'default', {});
    await global.serve();
    await west.join(global);
    await west.put('MeshService', 'a', SPEC);
    await global.holds(west.id('MeshService', 'a'));
    liar = new RawHandshaker(global.port);
  });
  afterEach(async () => {
    liar.close();
    await west.close();
    await global.close();
  });

  const insight = async (zone: string): Promise<JsonObject> =>
    (await global.sync?.findInsight(await global.holds(global.id('Zone', zone)))) ?? {};
  const codes = (answers: readonly Shaken[]): readonly (number | undefined)[] =>
    answers.map(({ error }) => error?.code);

  it('about the revision that it holds, 30 times in a row, begins no life and cuts off nobody', async () => {
    const { incarnation } = await global.store.head();
    const session = west.sync?.status().session;
    const lie = { kind: 'Mesh', incarnation, revision: HUGE, view: '', mac: 'x'.repeat(43) };
    const answers: Shaken[] = [];
    for (let i = 0; i < 30; i++) {
      answers.push(await liar.shake({ zone: 'east', storeId: 'e', incarnation: 'one', resumePoints: [lie] }));
      await west.put('MeshService', `s-${i}`, SPEC);
      await global.holds(west.id('MeshService', `s-${i}`));
    }
    expect((await global.store.head()).incarnation).toBe(incarnation);
    expect(west.sync?.status()).toMatchObject({ connected: true, session });
    expect(answers.map(({ response }) => response?.incarnation).slice(0, 20)).toEqual(Array(20).fill(incarnation));
    expect(await insight('east')).toMatchObject({
      doubtful: { claim: 'revision', instance: 'liar', detail: expect.stringContaining(`Mesh at revision ${HUGE}`) },
    });
    expect(await insight('west')).not.toHaveProperty('doubtful');
    // Its handshakes are rate-limited, and the refusal has the time to wait.
    expect(codes(answers).slice(20)).toEqual(Array(10).fill(status.RESOURCE_EXHAUSTED));
    expect(answers[29]?.error?.metadata.get('grpc-retry-pushback-ms')).toEqual(['500']);
    expect(lines.filter(({ message }) => message === 'a zone makes a doubtful claim')).toHaveLength(1);
    expect(lines.filter(({ message }) => message === 'a call of a zone failed')).toHaveLength(1);

    clock.advance(500);
    const good = await liar.shake({ zone: 'east', storeId: 'e', incarnation: 'one' });
    expect(good.error).toBeUndefined();
    expect(await insight('east')).not.toHaveProperty('doubtful');
  });

  it('about its epoch opens nothing, and what it has locked by one that is believed the operator opens', async () => {
    const standing = await global.sessions.session('west');
    const { storeId = '', incarnation = '', epoch = 0 } = standing ?? {};
    const claim = (leaderEpoch: number): Promise<Shaken> =>
      liar.shake({ zone: 'west', storeId, incarnation, leaderEpoch });
    for (const leaderEpoch of [epoch + 1_000_001, Number.MAX_SAFE_INTEGER]) {
      const { error } = await claim(leaderEpoch);
      expect([error?.code, error?.details]).toEqual([
        status.PERMISSION_DENIED,
        `zone west claims the leader epoch ${leaderEpoch}, far above the last one, ${epoch}; where that is so: causeway zones reset-epoch west`,
      ]);
    }
    expect(await global.sessions.session('west')).toEqual(standing);
    expect(west.sync?.status()).toMatchObject({ connected: true, session: standing?.up });
    expect(await insight('west')).toMatchObject({ doubtful: { claim: 'epoch' } });

    expect((await claim(epoch + 1_000_000)).error).toBeUndefined();
    expect(codes([await claim(epoch)])).toEqual([status.PERMISSION_DENIED]);
    expect(await global.sync?.resetEpoch('west')).toBe(epoch + 1_000_000);
    await west.put('MeshService', 'late', SPEC);
    await global.holds(west.id('MeshService', 'late'));
    expect((await global.sessions.session('west'))?.epoch).toBe(epoch);
    await expect(global.sync?.resetEpoch('nowhere')).rejects.toThrow('never had a session');
  });

  const long = 'x'.repeat(1_000_000);
  it.each<[string, Parameters<RawHandshaker['shake']>[0], string]>([
    [
      'a store id of a million characters',
      { storeId: long },
      'storeId: must not be longer than 200 characters, has 1000000',
    ],
    ['a store id with a line break', { storeId: 'a\nb' }, 'storeId: must consist of printable ASCII characters'],
    ['a long instance', { instance: long }, 'instance: must not be longer than 200 characters, has 1000000'],
    ['a long version', { version: long }, 'version: must not be longer than 100 characters, has 1000000'],
    ['a long incarnation', { incarnation: long }, 'incarnation: must not be longer than 100 characters, has 1000000'],
    ['many features', { features: Array(65).fill('x') }, 'features: must not have more than 64 items, has 65'],
    ['a long feature', { features: [long] }, 'features[0]: must not be longer than 64 characters, has 1000000'],
    [
      'many points',
      { resumePoints: Array(5_000).fill({ kind: 'Mesh', incarnation: '', revision: 1, view: '', mac: '' }) },
      'resumePoints: must not have more than',
    ],
    [
      'a long MAC',
      { resumePoints: [{ kind: 'Mesh', incarnation: '', revision: 1, view: '', mac: long }] },
      'resumePoints[0].mac: must not be longer than 100 characters, has 1000000',
    ],
  ])('is refused with field, rule and size: %s', async (_, request, reason) => {
    const { error } = await liar.shake({ zone: 'east', storeId: 'e', incarnation: 'one', ...request });
    expect([error?.code, error?.details]).toEqual([status.INVALID_ARGUMENT, expect.stringContaining(reason)]);
    expect(await global.sessions.session('east')).toBeUndefined();
    expect(lines.every(({ fields }) => JSON.stringify(fields).length < 2_000)).toBe(true);
  });

  it.each(['East', 'a b', '*', 'x'.repeat(64), 'x'.repeat(30_000)])('is refused by the name %.10s', async (zone) => {
    const { error } = await liar.shake({ zone, storeId: 'e', incarnation: 'one' });
    expect([error?.code, error?.details]).toEqual([status.INVALID_ARGUMENT, expect.stringMatching(/^client-id: must/)]);
    expect(global.names('Zone')).toEqual(['west']);
    expect(lines.every(({ fields }) => JSON.stringify(fields).length < 2_000)).toBe(true);
  });

  it('without proof uses up nobody else’s attempts', async () => {
    const before = lines.length;
    for (let i = 0; i < 100; i++)
      await liar.shake({ zone: 'north', storeId: 'n', incarnation: 'one' }, { token: 'wrong' });
    // One line, and the next has the count of suppressed ones.
    expect(lines.length - before).toBe(1);
    const { error } = await liar.shake({ zone: 'north', storeId: 'n', incarnation: 'one' });
    expect(error).toBeUndefined();
    const answers: Shaken[] = [];
    for (let i = 0; i < 300; i++) {
      answers.push(await liar.shake({ zone: 'north', storeId: 'n', incarnation: 'one' }, { token: 'wrong' }));
    }
    expect(codes(answers).at(-1)).toBe(status.RESOURCE_EXHAUSTED);
    expect(answers.at(-1)?.error?.details).toContain('the address 127.0.0.1 calls too often');
    clock.advance(10_000);
    await liar.shake({ zone: 'north', storeId: 'n', incarnation: 'one' }, { token: 'wrong' });
    expect(lines.at(-1)?.fields['leftOut']).toBeGreaterThan(300);
  });
});
