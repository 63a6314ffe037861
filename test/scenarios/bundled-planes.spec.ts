import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { ProcessPlane } from '../support/process-plane';
import { describeWithRedis } from '../support/redis';
import { until } from '../support/until';
import { GenericClient } from '../grpc/generic-client';

const GENERATORS = '/hostnamegenerators';
const generator = (name: string, template: unknown): Record<string, unknown> => ({
  type: 'HostnameGenerator',
  name,
  spec: { selector: { meshService: {} }, template },
});

/** Above what the main thread parses. */
const LARGE = 700_000;

/**
 * The control planes as they are built: of their TypeScript by esbuild, which keeps no types, so that whatever Nest injects by type would be
 * undefined. Their first start reads the migrations.
 */
describeWithRedis('control planes that esbuild bundled from the sources', (redisUrl) => {
  let databases: readonly TestDatabase[] = [];
  let planes: readonly ProcessPlane[] = [];
  const planeOf = (app: string): ProcessPlane => {
    const plane = planes.find((each) => each.app === app);
    if (!plane) throw new Error(`no ${app} has started`);
    return plane;
  };

  beforeAll(async () => {
    databases = await Promise.all([createTestDatabase(), createTestDatabase()]);
    const [one, two] = databases.map(({ url }) => ({ DATABASE_URL: url, REDIS_URL: redisUrl }));
    const open = { CAUSEWAY_KDS_BIND_ADDRESS: '127.0.0.1', CAUSEWAY_KDS_AUTH: 'none', CAUSEWAY_KDS_TLS: 'off' };
    const global = await ProcessPlane.start('global', 'global', { ...one, ...open });
    planes = [global];
    const joined = { CAUSEWAY_GLOBAL_ADDRESS: `grpc://${global.kdsAddress}` };
    planes = [global, await ProcessPlane.start('zone', 'east', { ...two, ...joined })];
  });
  afterAll(async () => {
    await Promise.all(planes.map((plane) => plane.stop()));
    await Promise.all(databases.map((database) => database.drop()));
  });

  it.each(['global', 'zone'])('parse a large body in a thread (%s)', async (app) => {
    const metadata = { kind: 'HostnameGenerator', description: 'x'.repeat(LARGE) };
    const body = JSON.stringify(metadata);
    const answer = await planeOf(app).fetch(`${GENERATORS}/large`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining('description')]);
  });

  it.each(['global', 'zone'])('tell clients their schema by reflection (%s)', async (app) => {
    const client = await GenericClient.connect(planeOf(app).grpcUrl.replace('grpc://', ''), 'v1');
    expect(client.services).toContain('causeway.v1.ResourceService');
    client.close();
  });

  it.each(['global', 'zone'])('answer requests (%s)', async (app) => {
    const plane = planeOf(app);
    expect(await plane.get('/')).toMatchObject({ product: 'Causeway', mode: app });
    const path = `${GENERATORS}/of-${app}`;
    const put = (body: unknown): Promise<Response> =>
      plane.fetch(path, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    const made = await put(generator(`of-${app}`, `{{ name }}.${app}.bundled`));
    expect([made.status, await made.text()]).toEqual([201, '{}']);
    expect(await plane.text(GENERATORS)).toContain(`"of-${app}"`);
    const wrong = await put(generator(`of-${app}`, 7));
    expect([wrong.status, await wrong.text()]).toEqual([422, expect.stringContaining('spec.template')]);
    const stranger = await fetch(plane.restUrl + path, { method: 'DELETE' });
    expect(stranger.status).toBe(401);
  });

  it('sync both ways, and lead by Redis', async () => {
    const [global, zone] = [planeOf('global'), planeOf('zone')];
    await until('each has what the other wrote', async () => {
      const [above, below] = [await global.text(GENERATORS), await zone.text(GENERATORS)];
      return above.includes('"of-zone') && below.includes('"of-global');
    });
    for (const plane of planes) expect(await plane.metric('causeway_leader_redis_connected')).toBe(1);
  });

  it('end in order', async () => {
    for (const plane of [...planes].reverse()) await plane.stop();
    for (const plane of planes) expect(plane.lastLines.at(-1)).toContain('"ended"');
  });
});
