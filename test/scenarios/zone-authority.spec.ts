import { randomBytes } from 'node:crypto';
import { ProcessPlane, type PlaneEnvironment } from '../support/process-plane';
import { createMigratedDatabase } from '../support/migrated-database';
import type { TestDatabase } from '../support/postgres';
import { until } from '../support/until';

type Status = { readonly [field: string]: unknown } & {
  readonly step: string;
  readonly authorities: readonly {
    readonly id: string;
    readonly signs: boolean;
    readonly certificate: string;
    readonly creationTime: string;
  }[];
};

const key = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;
const [OLD, NEW, OTHER] = [key('old'), key('new'), key('old')];

describe("the authority of a zone's workloads, over replicas, kills and keys", () => {
  let database: TestDatabase;
  const planes: ProcessPlane[] = [];
  beforeAll(async () => {
    database = await createMigratedDatabase();
  });
  afterAll(async () => {
    for (const plane of planes) await plane.stop();
    await database.drop();
  });

  const start = async (secrets: string, more: PlaneEnvironment = {}): Promise<ProcessPlane> => {
    const env = { DATABASE_URL: database.url, CAUSEWAY_SECRETS_KEY: secrets, CAUSEWAY_LEADER_LEASE: '1s', ...more };
    const plane = await ProcessPlane.start('zone', 'east', env);
    planes.push(plane);
    return plane;
  };
  const status = async (plane: ProcessPlane): Promise<Status | undefined> =>
    (await plane.get('/_ca')) as Status | undefined;
  const settled = (plane: ProcessPlane, wanted: (found: Status) => boolean): Promise<Status> =>
    until('the authority is as wanted', async () => {
      const found = await status(plane);
      return found && wanted(found) ? found : undefined;
    });
  const order = (plane: ProcessPlane, body: object): Promise<string> => plane.text('/_ca/rotation', body);
  const bundles = async (plane: ProcessPlane): Promise<number> => {
    const { items = [] } = ((await plane.get('/meshes/default/meshtrusts')) ?? {}) as {
      items?: readonly { readonly spec: { readonly caBundles: readonly unknown[] } }[];
    };
    return items[0]?.spec.caBundles.length ?? 0;
  };
  const secretsIn = (text: string): boolean =>
    /PRIVATE KEY/.test(text) || [OLD, NEW].some((one) => text.includes(one.slice(4)));

  it('is made once by two replicas that start together, published, and shown by both without a key', async () => {
    const [a, b] = await Promise.all([start(OLD), start(OLD)]);
    const [seenByA, seenByB] = [await settled(a, () => true), await settled(b, () => true)];
    expect(seenByA).toEqual(seenByB);
    expect(seenByA).toMatchObject({ step: 'steady', missing: { total: 0 }, authorities: [{ signs: true }] });
    const [{ creationTime = '' } = {}] = seenByA.authorities;
    expect(Math.abs(Date.now() - Date.parse(creationTime))).toBeLessThan(120_000);
    await until('its trust is published', async () => (await bundles(b)) === 1);
    const shown = await Promise.all(
      ['/_ca', '/config', '/_doctor', '/meshes/default/meshtrusts'].map((path) => a.text(path)),
    );
    expect([...shown, ...a.lastLines, ...b.lastLines].filter(secretsIn)).toEqual([]);
  });

  it('goes on with a rotation when the leader is killed in the middle of it, whichever replica took the order', async () => {
    const [a, b] = planes;
    if (!a || !b) throw new Error('no replicas');
    const before = await settled(a, () => true);
    // Both have the order's first step in the store before either is killed; the other replica leads, or comes to lead.
    await order(b, { deadline: '1h' });
    await settled(b, ({ step }) => step !== 'steady');
    await a.kill();
    const after = await settled(b, ({ step }) => step === 'retiring');
    expect(after.authorities.map(({ id, signs }) => [id === before.authorities[0]?.id, signs])).toEqual([
      [true, false],
      [false, true],
    ]);
    expect(after['usedBy']).toBe('acks');
    await until('both are trusted', async () => (await bundles(b)) === 2);
    await expect(order(b, { abandon: true })).rejects.toThrow(/409.*needs a rotation at its step \\?"trusting/);
    await expect(order(b, { deadline: 'soon' })).rejects.toThrow(/422.*must be a duration/);
  });

  it('is opened after a restart with the key moved behind a new one, and by the new one alone from then on', async () => {
    const [, b] = planes;
    const before = b && (await status(b));
    await b?.stop();
    const c = await start(`${NEW},${OLD}`);
    await until('it is sealed anew', async () => c.lastLines.some((line) => line.includes('sealed anew')) || undefined);
    await c.stop();
    const d = await start(NEW);
    expect((await settled(d, () => true)).authorities).toEqual(before?.authorities);
    expect(d.lastLines.filter((line) => line.includes('left as it is'))).toEqual([]);
  });

  it('issues dataplane tokens with the claims of Kuma, shows them once, and refuses what makes none', async () => {
    const plane = planes.at(-1);
    if (!plane) throw new Error('no replica');
    const token = await until('a key signs tokens', () =>
      plane
        .text('/tokens/dataplane', {
          mesh: 'default',
          name: 'redis-1',
          tags: null,
          type: 'dataplane',
          workload: '',
          validFor: '1h',
        })
        .catch(() => undefined),
    );
    const [header = '', payload = ''] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
    expect(JSON.parse(header)).toMatchObject({ alg: 'RS256' });
    expect(JSON.parse(payload)).toMatchObject({ Mesh: 'default', Name: 'redis-1', Type: 'dataplane' });
    expect(await plane.text('/tokens/dataplane')).not.toContain(token);
    await expect(plane.text('/tokens/dataplane', { mesh: '' })).rejects.toThrow(/422.*mesh/);
    await expect(plane.text('/tokens/dataplane', { mesh: 'default', type: 'ingress' })).rejects.toThrow(/422.*type/);
    await plane.stop();
  });

  it.each([
    ['another key of the same id', OTHER.replace('old:', 'new:'), 'it does not open with key "new"'],
    ['a key of another id', OLD, 'it is sealed with key "new", which is not in CAUSEWAY_SECRETS_KEY'],
  ])('keeps a replica with %s from starting, in one line that shows no key', async (_, secrets, reason) => {
    const failed = await start(secrets).then(
      () => 'it starts',
      (error: unknown) => String(error),
    );
    expect(failed).toContain(
      `causeway: CAUSEWAY_SECRETS_KEY: the stored key of the certificate authority cannot be opened: ${reason}`,
    );
    expect(secretsIn(failed)).toBe(false);
  });
});
