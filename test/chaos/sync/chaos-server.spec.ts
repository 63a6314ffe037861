import { Client } from 'pg';
import { until } from '../../support/until';
import { ChaosServer } from './chaos-server';

describe('a Postgres server that is killed and started again', () => {
  let server: ChaosServer;
  let client: Client;

  beforeEach(async () => {
    server = await ChaosServer.start();
    client = await connected(server);
    await client.query('CREATE TABLE committed (n int)');
  });
  afterEach(async () => {
    await client.end().catch(() => undefined);
    await server.stop();
  });

  it('I9: holds every commit that was answered, on the same port', async () => {
    const url = server.url('postgres');
    let answered = 0;
    const writing = write(client, () => answered++);
    await until('commits were answered', () => answered > 20);
    await server.crash();
    await writing;
    await server.recover();

    expect(server.url('postgres')).toBe(url);
    client = await connected(server);
    const { rows } = await client.query<{ count: number }>('SELECT count(*)::int AS count FROM committed');
    // The last one may have been committed and not answered.
    expect([answered, answered + 1]).toContain(rows[0]?.count);
  });

  it('waits for the processes that the killed one has left', async () => {
    // The process does not check whether its server still runs.
    const busy = client.query('SELECT count(*) FROM generate_series(1, 1000000)').catch(() => undefined);
    await server.crash();
    await server.recover();
    await busy;
    client = await connected(server);
    expect((await client.query('SELECT * FROM committed')).rows).toEqual([]);
  });
});

async function connected(server: ChaosServer): Promise<Client> {
  const client = new Client({ connectionString: server.url('postgres') });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Commits row after row until the connection breaks. */
async function write(client: Client, onAnswer: () => void): Promise<void> {
  try {
    for (let n = 0; ; n++) {
      await client.query('INSERT INTO committed VALUES ($1)', [n]);
      onAnswer();
    }
  } catch {
    return undefined;
  }
}
