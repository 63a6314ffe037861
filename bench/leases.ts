import { performance } from 'node:perf_hooks';
import { splitIntoBatches } from '@causeway/runtime';
import type { LeaseClaim } from '@causeway/store';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { Client } from 'pg';
import { createTestDatabase } from '../test/support/postgres';
import { until } from '../test/support/until';
import { numberSetting, report } from './support/report';
import { benchServices } from './support/services';
import { runProgram } from './support/run-program';

/**
 * Leases of agents in Postgres: how many are taken and renewed a second, by statements of a replica, one after the other; what the
 * survey takes that the leader makes each second, where no lease may have expired and where all are read; `heartbeats`: the part of
 * renewals that wrote no index. Prints one JSON line, and exits with 1 where the surveys without an expiry did not use an index.
 * BENCH_LEASES (100000), BENCH_ROUNDS (3): how often all are renewed.
 */
const LEASES = numberSetting('BENCH_LEASES', 100_000);
const ROUNDS = numberSetting('BENCH_ROUNDS', 3);
const LENGTH = 3_600_000;
const SURVEYS = 50;
/** Rows of a statement of a replica. */
const CLAIMS = 500;
const RENEWALS = 2_000;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function median(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < SURVEYS; n++) times.push(await timed(work));
  times.sort((a, b) => a - b);
  return Math.round((times[Math.floor(SURVEYS / 2)] ?? 0) * 100) / 100;
}

const perSecond = (rows: number, ms: number): number => Math.round((rows * 1_000) / ms);

function claim(n: number): LeaseClaim {
  const agent = {
    instance: `instance-${n}`,
    run: `run-${n}`,
    startedAt: 1,
    machine: `machine-${n}`,
    address: '10.0.0.1',
  };
  return { mesh: 'default', namespace: 'default', name: `agent-${n}`, agent, session: `session-${n}` };
}

const rounded = (share: number): number => Math.round(share * 100) / 100;

async function main(): Promise<void> {
  const stopServices = await benchServices();
  const database = await createTestDatabase();
  const backend = await createPostgresBackend({ url: database.url });
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const number = async (text: string): Promise<number> => {
    const { rows } = await client.query<{ found: string }>(text);
    return Number(rows[0]?.found);
  };
  try {
    const { agentLeases } = backend;
    const claims = Array.from({ length: LEASES }, (_, n) => claim(n));
    const taken = await timed(async () => {
      for (const batch of splitIntoBatches(claims, CLAIMS)) await agentLeases.take(batch, LENGTH);
    });
    // Only old leases count: each survey reads the leases that were taken just now.
    await client.query('UPDATE agent_leases SET changed_at = changed_at - 3600000');
    await client.query('VACUUM (ANALYZE) agent_leases');
    const renewals = claims.map(({ agent: _, ...held }) => ({ ...held, age: 0 }));
    const ofTable = (column: string): Promise<number> =>
      number(`SELECT ${column} AS found FROM pg_stat_user_tables WHERE relname = 'agent_leases'`);
    const scans = `SELECT idx_scan AS found FROM pg_stat_user_indexes WHERE indexrelname = 'agent_leases_changed_at'`;
    await client.query('SELECT pg_stat_reset()');
    const renewed = await timed(async () => {
      for (let round = 0; round < ROUNDS; round++)
        for (const batch of splitIntoBatches(renewals, RENEWALS)) await agentLeases.renew(batch, LENGTH);
    });
    await agentLeases.survey(500);
    const survey_ms = await median(() => agentLeases.survey(500));
    const counted = until('the counts of the surveys', async () => (await number(scans)) >= SURVEYS);
    const isIndexed = await counted.catch(() => false);
    await agentLeases.take([claim(LEASES)], 0);
    const survey_all_ms = await median(() => agentLeases.survey(500));
    report('leases', {
      leases: LEASES,
      taken_per_s: perSecond(LEASES, taken),
      renewed_per_s: perSecond(ROUNDS * LEASES, renewed),
      survey_ms,
      survey_all_ms,
      uses_index: isIndexed,
      heartbeats: rounded((await ofTable('n_tup_hot_upd')) / Math.max(1, await ofTable('n_tup_upd'))),
    });
    process.exitCode = isIndexed ? 0 : 1;
  } finally {
    await client.end();
    await backend.close();
    await database.drop();
    await stopServices();
  }
}

runProgram(main);
