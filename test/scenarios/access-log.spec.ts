import { silentLogger, systemClock, type LogFields, type Logger } from '@causeway/runtime';
import { createMigratedDatabase } from '../support/migrated-database';
import type { TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';
import { adminFetch } from '../support/admin-credential';

describe('what a control plane says of requests', () => {
  let database: TestDatabase;
  let zone: ZoneProgram;
  const lines: (readonly [message: string, fields: LogFields])[] = [];
  const logger: Logger = {
    ...silentLogger,
    info: (message, fields = {}) => void lines.push([message, fields]),
    child: () => logger,
  };
  beforeAll(async () => {
    database = await createMigratedDatabase();
    const env = { DATABASE_URL: database.url, CAUSEWAY_ACCESS_LOG: 'on' };
    zone = await ZoneProgram.start(env, systemClock, logger);
  });
  afterAll(async () => {
    await zone?.stop();
    await database?.drop();
  });

  /** The line of the access log of a request. */
  const findLine = (id: string): Promise<LogFields> =>
    until(
      `a line of ${id}`,
      () => lines.find(([message, fields]) => message === 'request' && fields['id'] === id)?.[1],
    );
  const ask = (path: string, id?: string): Promise<Response> =>
    adminFetch(zone.restUrl + path, { headers: id === undefined ? {} : { 'x-request-id': id } });

  it('answers with the id of the request, its own where that of the client is none', async () => {
    expect((await ask('/config', 'trip-1:a.b')).headers.get('x-request-id')).toBe('trip-1:a.b');
    for (const bad of ['x'.repeat(65), 'a b', 'é'])
      expect((await ask('/config', bad)).headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    expect((await ask('/nothing/at/all/here', 'lost-1')).headers.get('x-request-id')).toBe('lost-1');
  });

  it('logs a line for each, without query and credentials', async () => {
    await (await ask('/meshes/default/dataplanes?size=1&name=word-of-the-query', 'seen-1')).text();
    const line = await findLine('seen-1');
    expect(line).toMatchObject({
      id: 'seen-1',
      method: 'GET',
      path: '/meshes/default/dataplanes',
      status: 200,
      isWatch: false,
      route: expect.stringContaining(':') as string,
      ms: expect.any(Number) as number,
    });
    expect(JSON.stringify(line)).not.toContain('word-of-the-query');
  });

  it('counts them by method, route and status, whatever paths clients make up', async () => {
    for (let i = 0; i < 20; i++) await ask(`/made/up/path/${i}`);
    const diagnostics = lines.find(([, fields]) => 'diagnostics' in fields)?.[1]['diagnostics'];
    const text = await (await fetch(`${String(diagnostics)}/metrics`)).text();
    const series = text.split('\n').filter((line) => line.startsWith('causeway_rest_requests_total{'));
    expect(series.some((line) => /route="\/meshes\/:\w+\/:\w+",code="200"/.test(line))).toBe(true);
    expect(series.filter((line) => line.includes('made'))).toEqual([]);
    expect(series.some((line) => /code="404"\} 2[01]$/.test(line))).toBe(true);
    expect(text).toMatch(/^causeway_rest_request_seconds_count\{method="GET"\} \d+$/m);
  });
});
