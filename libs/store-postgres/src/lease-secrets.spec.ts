import { randomUUID } from 'node:crypto';
import type { AgentLeaseStore, LeaseAgent, LeaseKey } from '@causeway/store';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres';
import type { PostgresBackend } from './postgres-backend';
import { createPostgresBackend } from '../testing/connected-backend';

const LENGTH = 60_000;

/** Beyond the conformance suite: many leases at once, programs of the version before, and the contents of the tables. */
describe('secrets of leases in Postgres', () => {
  let database: TestDatabase;
  let backends: readonly PostgresBackend[];
  let client: Client;
  const key = (): LeaseKey => ({ mesh: 'default', namespace: 'default', name: randomUUID() });
  const agent = (startedAt: number, instance = 'a'): LeaseAgent => ({
    instance,
    run: `run-${startedAt}`,
    startedAt,
    machine: 'vm',
    address: '10.0.0.1',
  });
  const claim = async (of: LeaseKey, by: LeaseAgent, secretHash?: string, backend = backends[0]): Promise<string> => {
    const session = randomUUID();
    const one = { ...of, agent: by, session, ...(secretHash !== undefined && { secretHash }) };
    const answers = await backend?.agentLeases.take([one], LENGTH);
    return answers?.[0]?.type ?? 'nothing';
  };
  /** As a replica of the version before takes a lease. */
  const claimAsBefore = async ({ mesh, namespace, name }: LeaseKey, by: LeaseAgent): Promise<string> => {
    const session = randomUUID();
    const claims = JSON.stringify([{ mesh, namespace, name, ...by, started_at: by.startedAt, session }]);
    const { rows } = await client.query<{ session: string }>('SELECT * FROM causeway_take_leases($1, $2)', [
      claims,
      LENGTH,
    ]);
    return rows[0]?.session === session ? 'taken' : 'held';
  };
  const end = ({ name }: LeaseKey): Promise<unknown> =>
    client.query('UPDATE agent_leases SET expires_at = 0 WHERE name = $1', [name]);
  const secrets = async ({ name }: LeaseKey): Promise<readonly unknown[]> =>
    (await client.query('SELECT instance, secret_hash FROM agent_lease_secrets WHERE name = $1', [name])).rows;

  beforeAll(async () => {
    database = await createTestDatabase();
    backends = await Promise.all([1, 2].map(() => createPostgresBackend({ url: database.url })));
    client = new Client({ connectionString: database.url });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await Promise.all(backends.map((backend) => backend.close()));
    await database.drop();
  });

  it('let one of two that claim at the same moment in, whichever is first', async () => {
    for (let round = 0; round < 40; round++) {
      const of = key();
      const both = await Promise.all([
        claim(of, agent(1), 'of the owner'),
        claim(of, agent(2), 'of a thief', backends[1]),
      ]);
      expect(both.filter((answer) => answer === 'taken')).toHaveLength(1);
    }
  });

  it('are claimed many at once by several replicas, in any order', async () => {
    const keys = Array.from({ length: 100 }, key);
    const take = async (leases: AgentLeaseStore | undefined, of: readonly LeaseKey[]): Promise<unknown> =>
      leases?.take(
        of.map((one) => ({ ...one, agent: agent(1), session: randomUUID(), secretHash: 'a' })),
        LENGTH,
      );
    const rounds = Array.from({ length: 6 }, (_, i) =>
      take(backends[i % 2]?.agentLeases, i % 3 === 0 ? keys : [...keys].reverse()),
    );
    await expect(Promise.all(rounds)).resolves.toHaveLength(6);
    expect(await claim(key(), agent(1), 'a')).toBe('taken');
  });

  it('are gone with their lease', async () => {
    const of = key();
    await claim(of, agent(1), 'a');
    expect(await secrets(of)).toEqual([{ instance: 'a', secret_hash: 'a' }]);
    await client.query('DELETE FROM agent_leases WHERE name = $1', [of.name]);
    expect(await secrets(of)).toEqual([]);
  });

  it('leave a replica of the version before its rule, and count again at one of this version', async () => {
    const of = key();
    await claim(of, agent(1), 'a');
    expect(await claimAsBefore(of, agent(2))).toBe('taken');
    expect(await claim(of, agent(3))).toBe('held');
    expect(await claim(of, agent(3), 'a')).toBe('taken');
    // Another agent has the lease since: the secret of the earlier one has no effect.
    await end(of);
    expect(await claimAsBefore(of, agent(1, 'b'))).toBe('taken');
    expect(await claim(of, agent(4), 'a')).toBe('held');
    expect(await claim(of, agent(2, 'b'), 'b')).toBe('taken');
    expect(await secrets(of)).toEqual([{ instance: 'b', secret_hash: 'b' }]);
    expect(await claim(of, agent(3, 'b'))).toBe('held');
  });
});
