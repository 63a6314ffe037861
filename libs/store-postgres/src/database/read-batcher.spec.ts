import { Unavailable } from '@causeway/resources';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/postgres';
import { createPostgresBackend } from '../../testing/connected-backend';
import { databaseServers } from '../servers/server-urls';
import { ReadBatcher, type ReadStatement } from './read-batcher';
import { StoreDatabase, type Statement } from './store-database';

const ROWS = `SELECT * FROM (VALUES (1::bigint, 'one', true, '{"a":[1,null]}'::jsonb), (9007199254740991, 'zwei', false, NULL))
  AS v(number, text, truth, json) WHERE number >= $1 ORDER BY number DESC`;
const rows = (least: number): ReadStatement => ({ name: 'rows', text: ROWS, values: [least] });
const NONE: ReadStatement = { name: 'none', text: 'SELECT 1 AS one WHERE $1::text = $2::text', values: ['a', 'b'] };
const BROKEN: ReadStatement = { name: 'broken', text: 'SELECT 1 / 0 AS nothing' };

describe('reads of one turn', () => {
  let database: TestDatabase;
  let pool: StoreDatabase;
  let sent: Statement[];
  let joint: ReadBatcher;

  beforeAll(async () => {
    database = await createTestDatabase();
    await (await createPostgresBackend({ url: database.url })).close();
    pool = new StoreDatabase({
      servers: databaseServers(database.url),
      size: 2,
      statementTimeout: 5_000,
      applicationName: 'test',
    });
    await pool.connect();
  });
  beforeEach(() => {
    sent = [];
    joint = new ReadBatcher({
      read: (statement) => {
        sent.push(statement);
        return pool.read(statement);
      },
    });
  });
  afterAll(async () => {
    await pool.close();
    await database.drop();
  });

  it('are one statement, and their rows are those that each has alone', async () => {
    const alone = [await pool.read(rows(0)), await pool.read(rows(2)), await pool.read(NONE)];
    expect(alone.map(({ length }) => length)).toEqual([2, 1, 0]);
    for (const _ of ['parsed', 'prepared']) {
      expect(await Promise.all([joint.read(rows(0)), joint.read(rows(2)), joint.read(NONE)])).toEqual(alone);
      expect(sent).toHaveLength(1);
      expect(sent[0]?.name).toBe('read-batch-0');
      sent = [];
    }
  });

  it('that are equal are one, and one that nothing joins is sent as it is', async () => {
    const [first, second] = await Promise.all([joint.read(rows(0)), joint.read(rows(0))]);
    expect(first).toEqual(second);
    expect(sent).toEqual([rows(0)]);
  });

  it('are at most 16 a statement', async () => {
    const found = await Promise.all(Array.from({ length: 17 }, (_, least) => joint.read(rows(-least))));
    expect(found.map(({ length }) => length)).toEqual(Array.from({ length: 17 }, () => 2));
    expect(sent).toHaveLength(2);
  });

  it('fail one by one: the fault of one is not that of the others', async () => {
    const [whole, broken] = await Promise.allSettled([joint.read(rows(0)), joint.read(BROKEN)]);
    expect(whole).toMatchObject({ status: 'fulfilled', value: [{ text: 'zwei' }, { text: 'one' }] });
    expect(broken).toMatchObject({ status: 'rejected', reason: { code: '22012' } });
  });

  it('all fail where the database is away, and later ones are asked anew', async () => {
    const away = new ReadBatcher({ read: () => Promise.reject(new Unavailable('away')) });
    const asked = await Promise.allSettled([away.read(rows(0)), away.read(NONE)]);
    expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(away.read(NONE)).rejects.toThrow(Unavailable);
  });
});
