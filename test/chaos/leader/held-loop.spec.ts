import type { PostgresBackend } from '@causeway/store-postgres';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { Client } from 'pg';
import type { BundledProgram } from '../../support/bundled-program';
import { createMigratedDatabase } from '../../support/migrated-database';
import type { TestDatabase } from '../../support/postgres';
import { until } from '../../support/until';
import { beginAudit, readAudit } from './audit';
import { bundleCandidate, CandidateProcess, type CandidateEvent } from './candidate-process';

const LEASE = 2_000;

/** docs/adr/0004-lease-in-a-worker.md, with candidates that are processes over the lease in Postgres. */
describe('a leader whose event loop is held', () => {
  let program: BundledProgram;
  let database: TestDatabase;
  let backend: PostgresBackend;
  let admin: Client;
  let candidates: CandidateProcess[];
  let events: (CandidateEvent & { readonly candidate: CandidateProcess })[];

  beforeAll(async () => {
    program = await bundleCandidate();
  });
  afterAll(() => program.remove());

  beforeEach(async () => {
    database = await createMigratedDatabase();
    backend = await createPostgresBackend({ url: database.url, poolSize: 2 });
    admin = new Client({ connectionString: database.url });
    await admin.connect();
    await beginAudit(admin);
    [candidates, events] = [[], []];
  });
  afterEach(async () => {
    await Promise.all(candidates.map((one) => one.end()));
    await admin.end();
    await backend.close();
    await database.drop();
  });

  async function start(stallMs?: number): Promise<CandidateProcess> {
    const one = new CandidateProcess({
      program: program.file,
      database: database.url,
      redis: '',
      leaseMs: LEASE,
      ...(stallMs === undefined ? {} : { stallMs }),
      onEvent: (candidate, event) => void events.push({ ...event, candidate }),
    });
    candidates.push(one);
    await until('it takes part', () => one.ready);
    return one;
  }

  const heard = (candidate: CandidateProcess, event: CandidateEvent['event']): CandidateEvent | undefined =>
    events.find((one) => one.candidate === candidate && one.event === event);

  /** Two candidates of which the first leads, its lease kept by its thread. */
  async function leaderAndOther(stallMs?: number): Promise<readonly [CandidateProcess, CandidateProcess]> {
    const leader = await start(stallMs);
    await until('it leads', () => heard(leader, 'lead'));
    const other = await start(stallMs);
    await until('its thread has a connection', async () => {
      const { rows } = await admin.query(
        "SELECT 1 FROM pg_stat_activity WHERE application_name = 'causeway lease worker' AND datname = current_database()",
      );
      return rows.length > 0;
    });
    return [leader, other];
  }

  it('keeps its term through four leases, and takes its thread with it when it is killed', async () => {
    const [leader, other] = await leaderAndOther();
    leader.hold(4 * LEASE);
    await until('it goes on', () => heard(leader, 'wrote'));
    expect(heard(leader, 'wrote')).toMatchObject({ epoch: 1 });
    expect(heard(other, 'lead')).toBeUndefined();
    expect(await backend.lease.readEpoch()).toMatchObject({ epoch: 1, holder: leader.holder });
    await leader.kill();
    // The lease that it was granted last, and a moment to notice.
    await until('the other leads', () => heard(other, 'lead'));
    expect(heard(other, 'lead')).toMatchObject({ epoch: 2 });
  });

  it('I8: loses it after the longest stall, and what it then writes in the name of its term is refused', async () => {
    const [leader, other] = await leaderAndOther(2 * LEASE);
    leader.hold(6 * LEASE);
    await until('the other leads', () => heard(other, 'lead'));
    expect(heard(other, 'lead')).toMatchObject({ epoch: 2 });
    expect(heard(leader, 'fenced')).toBeUndefined(); // it is still held
    await until('it has tried', () => heard(leader, 'fenced') ?? heard(leader, 'wrote'));
    expect(heard(leader, 'wrote')).toBeUndefined();
    await until('it knows that its term is over', () => heard(leader, 'end'));
    expect(await readAudit(admin)).toMatchObject({ lateEpochs: 0, sharedEpochs: 0 });
  });
});
