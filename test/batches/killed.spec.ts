import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { ProcessPlane } from '../support/process-plane';
import { until } from '../support/until';
import { adminFetch } from '../support/admin-credential';

/** Ten transactions: there is time to kill between the first and the last. */
const COUNT = 5_000;
const TRIES = 8;
const PATH = '/meshes/default/meshmultizoneservices';

function lines(series: string): string {
  const spec = { selector: { meshService: { matchLabels: { team: 'db' } } }, ports: [{ port: 80 }] };
  const one = (i: number): object => ({ type: 'MeshMultiZoneService', mesh: 'default', name: `${series}-${i}`, spec });
  return Array.from({ length: COUNT }, (_, i) => JSON.stringify(one(i))).join('\n');
}

describe('a control plane that is killed while it writes a batch', () => {
  let database: TestDatabase;
  let plane: ProcessPlane;
  const start = (): Promise<ProcessPlane> =>
    ProcessPlane.start('global', 'global', { DATABASE_URL: database.url, CAUSEWAY_KDS_BIND_ADDRESS: '127.0.0.1' });

  async function begin(): Promise<void> {
    database = await createTestDatabase();
    plane = await start();
    await until('the default mesh is there', () => plane.get('/meshes/default'));
  }
  async function end(): Promise<void> {
    await plane.stop();
    await database.drop();
  }
  beforeEach(begin);
  afterEach(end);

  const apply = (query: string): Promise<Response> =>
    adminFetch(`${plane.restUrl}/_apply${query}`, {
      method: 'POST',
      body: lines('s'),
      headers: { 'content-type': 'application/x-ndjson' },
    });
  const stored = async (): Promise<number> => Number((await plane.get(`${PATH}?size=1`))?.['total']);
  const summary = async (answer: Response): Promise<Record<string, unknown>> => {
    const last = (await answer.text()).trimEnd().split('\n').at(-1) ?? '';
    const parsed: unknown = JSON.parse(last);
    return typeof parsed === 'object' && parsed !== null && 'summary' in parsed ? { ...Object(parsed.summary) } : {};
  };

  /** Kills the control plane when the batch is past its checks; resolves with what the client got. */
  async function killed(query: string): Promise<string> {
    const answer = await apply(query);
    let text = '';
    try {
      for await (const piece of answer.body ?? []) {
        text += Buffer.from(piece).toString();
        if (text.includes(`"progress":${COUNT}`) || text.includes('"written":500')) await plane.kill();
      }
    } catch {
      // the connection breaks
    }
    plane = await start();
    return text;
  }

  it('leaves the first documents of a batch, and the batch applied again has them all', async () => {
    // Where this process is slow, all is written before it kills: then the same anew.
    for (let tries = 1; (await killed('')).includes('"summary"'); tries++) {
      expect(tries).toBeLessThan(TRIES);
      await end();
      await begin();
    }
    const left = await stored();
    const again = await summary(await apply(''));
    expect(again).toMatchObject({ total: COUNT, unchanged: left, created: COUNT - left, refused: 0 });
    expect(await stored()).toBe(COUNT);
  });

  it('leaves all or nothing of an atomic batch', async () => {
    await killed('?atomic=true');
    const left = await stored();
    expect([0, COUNT]).toContain(left);
    const again = await summary(await apply('?atomic=true'));
    expect(again).toMatchObject({ total: COUNT, unchanged: left, created: COUNT - left, refused: 0 });
    expect(await stored()).toBe(COUNT);
  });
});
