import { createMigratedDatabase } from '../support/migrated-database';
import type { TestDatabase } from '../support/postgres';
import { ProcessPlane } from '../support/process-plane';
import { until } from '../support/until';
import { adminFetch } from '../support/admin-credential';

/** Four transactions: there is time to kill between the first and the last. */
const COUNT = 2_000;
const TRIES = 8;
const PATH = '/meshes/default/meshmultizoneservices';

/** The documents of a batch, whose names begin so. */
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

  beforeAll(async () => {
    database = await createMigratedDatabase();
    plane = await start();
    await until('the default mesh is there', () => plane.get('/meshes/default'));
  });
  afterAll(async () => {
    await plane.stop();
    await database.drop();
  });

  const apply = (series: string, query: string): Promise<Response> =>
    adminFetch(`${plane.restUrl}/_apply${query}`, {
      method: 'POST',
      body: lines(series),
      headers: { 'content-type': 'application/x-ndjson' },
    });
  const stored = async (): Promise<number> => Number((await plane.get(`${PATH}?size=1`))?.['total']);
  const summary = async (answer: Response): Promise<Record<string, unknown>> => {
    const last = (await answer.text()).trimEnd().split('\n').at(-1) ?? '';
    const parsed: unknown = JSON.parse(last);
    return typeof parsed === 'object' && parsed !== null && 'summary' in parsed ? { ...Object(parsed.summary) } : {};
  };

  /** Kills the control plane when the batch is past its checks; resolves with the client's answer. */
  async function killed(series: string, query: string): Promise<string> {
    const answer = await apply(series, query);
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
    // On a slow host all is written before it kills: then it tries the same with another batch.
    let [tries, before] = [1, 0];
    while ((await killed(`s${tries}`, '')).includes('"summary"')) {
      expect(tries++).toBeLessThan(TRIES);
      before = await stored();
    }
    const left = (await stored()) - before;
    const again = await summary(await apply(`s${tries}`, ''));
    expect(again).toMatchObject({ total: COUNT, unchanged: left, created: COUNT - left, refused: 0 });
    expect(await stored()).toBe(before + COUNT);
  });

  it('leaves all or nothing of an atomic batch', async () => {
    const before = await stored();
    await killed('atomic', '?atomic=true');
    const left = (await stored()) - before;
    expect([0, COUNT]).toContain(left);
    const again = await summary(await apply('atomic', '?atomic=true'));
    expect(again).toMatchObject({ total: COUNT, unchanged: left, created: COUNT - left, refused: 0 });
    expect(await stored()).toBe(before + COUNT);
  });
});
