import { Client } from 'pg';
import { createClient } from '@redis/client';
import { createTestDatabase } from './postgres';
import { describeWithRedis } from './redis';

describe('createTestDatabase', () => {
  it('gives a database of its own and drops it, open connections included', async () => {
    const [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    expect(first.url).not.toBe(second.url);
    const client = new Client({ connectionString: first.url });
    client.on('error', () => undefined); // the drop ends it
    await client.connect();
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);

    await Promise.all([first.drop(), second.drop()]);
    await expect(new Client({ connectionString: first.url }).connect()).rejects.toThrow('does not exist');
  });
});

describeWithRedis('testRedisUrl', (url) => {
  it('names a Redis that answers', async () => {
    const client = createClient({ url });
    await client.connect();
    expect(await client.ping()).toBe('PONG');
    client.destroy();
  });
});
