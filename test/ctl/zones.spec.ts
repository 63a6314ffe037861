import type { SyncDecisions } from '@causeway/queries/testing';
import { globalIdentity, NotFound, type JsonObject } from '@causeway/resources';
import { restFixture, ZONE_EAST, type RestFixture } from '../rest/rest-fixture';
import { runCauseway, type Ran } from './run-causeway';

const NOW = Date.now();

const report = (kind: string, more: JsonObject = {}): JsonObject => ({
  kind,
  direction: 'up',
  applied: 7,
  waiting: 0,
  lagSeconds: 0,
  held: 0,
  rejected: 0,
  rejections: [],
  ...more,
});
const WELL: JsonObject = {
  health: 'Online',
  peer: 'causeway',
  version: '0.1.0',
  globalInstanceId: 'global-1',
  renewedAt: NOW,
  sessions: ['down', 'up'].map((direction) => ({ session: 3, direction, openedAt: NOW, zoneInstanceId: 'east-a' })),
  kinds: [report('Mesh', { direction: 'down', offered: 9, acked: 9 }), report('MeshService')],
  token: { id: 'token-1', expiresAt: Date.parse('2126-01-01T00:00:00Z'), renewable: true },
};
const AWAY: JsonObject = {
  ...WELL,
  health: 'Offline',
  offline: { since: NOW - 600_000, reason: 'its connection ended' },
  sessions: [],
  kinds: [],
};
const rejections = [{ wireKey: 'redis-4cx4.default', reason: 'spec.ports: must be a list' }];
const TROUBLED: JsonObject = {
  ...WELL,
  health: 'Lagging',
  kinds: [
    report('Mesh', { direction: 'down', offered: 9, acked: 4, waiting: 12, lagSeconds: 34.56 }),
    report('MeshService', { held: 5, rejected: 4, rejections }),
  ],
  newIncarnation: { incarnation: 'life-2', since: NOW - 60_000, until: NOW + 240_000 },
  endedStream: { direction: 'up', reason: 'exhausted', detail: 'a response is too large', at: NOW - 60_000 },
  refused: { storeId: 'store-2', instance: 'west-9', refusedAt: NOW - 3_000 },
};

/** Runs of blanks as one, so that a width does not matter. */
const lines = (out: string): string[] => out.split('\n').map((line) => line.trim().replace(/ +/g, ' '));

describe('causeway zones, on a global', () => {
  const insights: Readonly<Record<string, JsonObject>> = { east: WELL, south: AWAY, west: TROUBLED };
  let pending: { incarnation: string; since: number } | undefined;
  const adopted: unknown[] = [];
  const syncDecisions: SyncDecisions = {
    confirmZone: async (zone) => {
      if (zone === 'nowhere') throw new NotFound('zone nowhere never had a session with this global');
      return pending;
    },
    adoptZone: async (zone, storeId) => {
      adopted.push({ zone, storeId });
      return { zone, storeId: storeId ?? 'store-2', formerly: 'store-1' };
    },
    resetEpoch: async (zone) => (zone === 'north' ? -1 : 9_007_199_254_740_991),
  };
  let rest: RestFixture;
  let url: string;

  beforeAll(async () => {
    const insightOf = ({ id }: { readonly id: { readonly name: string } }): JsonObject | undefined => insights[id.name];
    rest = await restFixture({ cp: { role: 'global' }, insights: { insightOf }, syncDecisions });
    for (const name of ['east', 'north', 'south', 'west']) {
      await rest.seed({ id: globalIdentity('Zone', name) });
    }
    url = `http://127.0.0.1:${await rest.server.listen('127.0.0.1', 0)}`;
  });
  afterAll(() => rest.close());
  const zones = (...args: readonly string[]): Promise<Ran> => runCauseway(url, ['zones', ...args]);

  it('shows each zone in a line, and what waits for the operator beside it', async () => {
    const { code, out, err } = await zones();
    expect(lines(out)).toEqual([
      'NAME ENABLED HEALTH PEER VERSION SESSION INSTANCE TOKEN ENDS LAG REJECTED HELD',
      'east true Online causeway 0.1.0 3 east-a 2126-01-01T00:00:00.000Z 0s 0 0',
      'north true never joined',
      'south true Offline causeway 0.1.0 2126-01-01T00:00:00.000Z away 10m - -',
      'west true Lagging causeway 0.1.0 3 east-a 2126-01-01T00:00:00.000Z 35s (12) 1 5',
      '',
    ]);
    const since = new Date(NOW - 600_000).toISOString();
    expect(err).toContain(`zone south: away since ${since} (10m): its connection ended\n`);
    expect(err).toMatch(/^zone west: store store-2 \(west-9\) comes under this name and is refused, last \w+ ago\n/m);
    expect(err).toContain('causeway zones adopt west store-2\n');
    expect(err).toMatch(/zone west: began a new incarnation, .* 5 resources that it does not name are kept until 20/);
    expect(err).toMatch(/causeway zones confirm west\n$/);
    expect(code).toBe(0);
  });

  it('shows them as JSON', async () => {
    const { items } = JSON.parse((await zones('-o', 'json')).out);
    expect(items.map((item: JsonObject) => item['zoneInsight'])).toEqual([WELL, undefined, AWAY, TROUBLED]);
  });

  it('describes one with its sessions, kinds and rejects', async () => {
    const { out, err } = await runCauseway(url, ['describe', 'zone', 'west']);
    expect(lines(out)).toEqual(
      expect.arrayContaining([
        'Sync:',
        expect.stringMatching(/^Health Lagging, as of \w+ ago$/),
        'Peer causeway 0.1.0',
        'Global global-1',
        `Session 3 down, since ${new Date(NOW).toISOString()} east-a`,
        expect.stringMatching(/^Ended stream up, .+ ago: a response is too large$/),
        'KIND WAY OFFERED ACKED APPLIED WAITING LAG HELD REJECTED',
        'Mesh down 9 4 7 12 35s 0 0',
        'MeshService up - - 7 0 0s 5 1',
        'MeshService redis-4cx4.default spec.ports: must be a list',
      ]),
    );
    expect(err).toContain('causeway zones confirm west');
    expect((await runCauseway(url, ['describe', 'zone', 'north'])).out).not.toContain('Sync:');
    expect(lines((await runCauseway(url, ['describe', 'zone', 'south'])).out)).toContain(
      `Away since ${new Date(NOW - 600_000).toISOString()} (10m): its connection ended`,
    );
  });

  it('confirm says what it did, and what is wrong', async () => {
    pending = { incarnation: 'life-2', since: 0 };
    expect(await zones('confirm', 'west')).toEqual({
      code: 0,
      err: '',
      out: 'the new incarnation of zone west, first seen 1970-01-01T00:00:00.000Z, is accepted: what it lacks is deleted\n',
    });
    pending = undefined;
    expect((await zones('confirm', 'west')).out).toBe('zone west has no new incarnation to confirm\n');
    const unknown = await zones('confirm', 'nowhere');
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('zone nowhere never had a session')]);
    expect(await zones('confirm')).toMatchObject({ code: 2 });
    expect(await zones('confirm-global')).toMatchObject({ code: 1, err: expect.stringContaining('on each zone') });
  });

  it('reset-epoch says which one stood', async () => {
    const { code, out } = await zones('reset-epoch', 'west');
    expect([code, out]).toEqual([
      0,
      'the epoch of zone west is forgotten (it was 9007199254740991): the next leader that comes is taken\n',
    ]);
    expect((await zones('reset-epoch', 'north')).out).toBe(
      'the epoch of zone north is forgotten: the next leader that comes is taken\n',
    );
  });

  it('adopt says to whom the name belongs and how to take it back', async () => {
    expect(await zones('adopt', 'west')).toEqual({
      code: 0,
      out: 'zone west belongs to store store-2 now\n',
      err: 'before to store-1; to take it back: causeway zones adopt west store-1\n',
    });
    expect((await zones('adopt', 'west', 'store-1')).out).toBe('zone west belongs to store store-1 already\n');
    expect(adopted).toEqual([
      { zone: 'west', storeId: undefined },
      { zone: 'west', storeId: 'store-1' },
    ]);
    expect(await zones('adopt', 'west', 'a b')).toMatchObject({ code: 1, err: expect.stringContaining('storeId') });
  });
});

describe('causeway zones quarantine and doctor', () => {
  let rest: RestFixture;
  let url: string;
  beforeAll(async () => {
    const doubtful = { claim: 'epoch', detail: 'claims the leader epoch 9', instance: 'east-1', seenAt: NOW };
    const insightOf = ({ id }: { readonly id: { readonly name: string } }): JsonObject | undefined =>
      id.name === 'west' ? { health: 'Offline', kinds: [], doubtful } : undefined;
    rest = await restFixture({ cp: { role: 'global' }, insights: { insightOf } });
    for (const name of ['east', 'west']) {
      await rest.seed({ id: globalIdentity('Zone', name), spec: { enabled: true } });
    }
    url = `http://127.0.0.1:${await rest.server.listen('127.0.0.1', 0)}`;
  });
  afterAll(() => rest.close());
  const run = (...args: readonly string[]): Promise<Ran> => runCauseway(url, args);
  const spec = (): JsonObject | undefined => rest.index.get(globalIdentity('Zone', 'east'))?.spec;

  it('keeps resources away, lets single ones in again, and the rest of the Zone stays', async () => {
    const named = await run('zones', 'quarantine', 'east', 'msvc/redis', 'MeshService/web', 'ZoneIngress/zi');
    expect(named).toMatchObject({ code: 0, err: '', out: expect.stringContaining('MeshService redis') });
    const [redis, web, ingress] = [
      { type: 'MeshService', name: 'redis' },
      { type: 'MeshService', name: 'web' },
      { type: 'ZoneIngress', name: 'zi' },
    ];
    expect(spec()).toEqual({ enabled: true, quarantine: { all: false, resources: [redis, web, ingress] } });
    await run('zones', 'quarantine', 'east', 'MeshService/redis', '--mesh', 'default');
    await run('zones', 'quarantine', 'east', 'MeshService/redis', '--mesh', 'm', '--namespace', 'n');
    const [again, far] = [
      { ...redis, mesh: 'default' },
      { ...redis, mesh: 'm', namespace: 'n' },
    ];
    expect(spec()).toMatchObject({ quarantine: { resources: [web, ingress, again, far] } });
    const released = await run('zones', 'quarantine', 'east', 'MeshService/redis', 'MeshService/web', '--release');
    expect(released).toMatchObject({ code: 0, out: expect.stringContaining('is released') });
    expect(spec()).toMatchObject({ quarantine: { all: false, resources: [ingress, far] } });
  });

  it('keeps a whole zone away, and --release alone lets in all', async () => {
    expect((await run('zones', 'quarantine', 'east')).out).toContain('zone east is quarantined: it has no session');
    expect(spec()).toMatchObject({ enabled: true, quarantine: { all: true, resources: [{}, {}] } });
    expect((await run('zones', 'quarantine', 'east', '--release')).out).toContain('zone east is released');
    expect(spec()).toEqual({ enabled: true, quarantine: { all: false, resources: [] } });
  });

  it.each([
    ['no name', ['zones', 'quarantine', 'east', 'redis'], 2],
    ['no kind', ['zones', 'quarantine', 'east', 'nothing/redis'], 2],
    ['no zone', ['zones', 'quarantine', 'nowhere', 'MeshService/redis'], 1],
  ])('refuses %s', async (_, args, code) => {
    expect((await run(...args)).code).toBe(code);
  });

  it('doctor says what is wrong and what to do, and ends with 1 where something is', async () => {
    const { code, out } = await run('doctor');
    expect(code).toBe(1);
    expect(out).toContain('zones that claim what cannot be so (1):\n  Zone west east-1 claims the leader epoch 9\n');
    expect(out).toContain('causeway zones reset-epoch west');
    expect(JSON.parse((await run('doctor', '-o', 'json')).out)).toMatchObject({ total: 1 });
    const sound = await restFixture({ cp: { role: 'global' } });
    try {
      const at = `http://127.0.0.1:${await sound.server.listen('127.0.0.1', 0)}`;
      expect(await runCauseway(at, ['doctor'])).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^nothing/),
      });
    } finally {
      await sound.close();
    }
  });

  it('a copy that cannot be deleted on the global says how to keep it away', async () => {
    await rest.seed({ id: { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'n', name: 'redis' } });
    const path = '/meshes/default/meshservices/redis?zone=east&namespace=n';
    const answer = await rest.server.inject({ method: 'DELETE', url: path });
    expect([answer.statusCode, answer.json().detail]).toEqual([
      403,
      expect.stringContaining('or keep it away: causeway zones quarantine east MeshService/redis --namespace n'),
    ]);
  });
});

describe('causeway zones, on a zone', () => {
  it('shows its own session and confirms the new incarnation of the global', async () => {
    const { refused: _, ...own } = TROUBLED;
    const insightOf = ({ id }: { readonly id: { readonly name: string } }): JsonObject | undefined =>
      id.name === 'east' ? own : undefined;
    const confirmGlobal = async (): Promise<{ incarnation: string; since: number }> => ({ incarnation: 'i', since: 0 });
    const rest = await restFixture({ cp: ZONE_EAST, insights: { insightOf }, syncDecisions: { confirmGlobal } });
    try {
      for (const name of ['east', 'west']) {
        await rest.seed({ id: globalIdentity('Zone', name) });
      }
      const url = `http://127.0.0.1:${await rest.server.listen('127.0.0.1', 0)}`;
      const { out, err } = await runCauseway(url, ['zones']);
      expect(lines(out).slice(1)).toEqual([
        'east true Lagging causeway 0.1.0 3 east-a 2126-01-01T00:00:00.000Z 35s (12) 1 5',
        'west true unknown here',
        '',
      ]);
      expect(err).toMatch(/^the global: began a new incarnation/);
      expect(err).toContain('causeway zones confirm-global\n');
      expect(err).toContain('this is zone east');
      expect((await runCauseway(url, ['describe', 'zone', 'east'])).err).toContain('causeway zones confirm-global');
      expect((await runCauseway(url, ['zones', 'confirm-global'])).out).toContain('the new incarnation of the global');
    } finally {
      await rest.close();
    }
  });
});
