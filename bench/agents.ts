import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { StormZone } from '../test/support/storm-zone';
import { until } from '../test/support/until';
import type { CrowdAnswer, CrowdOrder } from './support/agent-crowd';
import { cpuSeconds, memory, postgresSeconds } from './support/process-metrics';
import { numberSetting, report } from './support/report';
import { benchServices } from './support/services';
import { runProgram } from './support/run-program';

/**
 * A storm of agents at one zone, over TLS: they have their keys and join (`join_ms`, with the CPU seconds of the zone, of Postgres and of the agents themselves, and
 * transactions, until the last has its answers; BENCH_JOIN=1 ends there); then the zone's control plane is killed and started again, and all of them attach,
 * register and ask again. `settle_ms`: from the moment at which it is ready until the last has its answers; `from_start_ms`: from the
 * start of its process; `cpu_seconds` and transactions until then. `lost`: Dataplanes that were withdrawn, looked at two leases later.
 * Prints one JSON line and exits with 1 where a lease was lost. Needs a build. BENCH_AGENTS (1000), BENCH_JOIN, BENCH_NODE_OPTIONS: of the zone.
 */
const AGENTS = numberSetting('BENCH_AGENTS', 1_000);
const JOIN_ONLY = process.env['BENCH_JOIN'] === '1';
const CROWDS = 2;
const LEASE = 10_000;
/** Time that the control plane is away, ms. */
const AWAY = 1_000;
/** Time for which a leader observes leases before it ends one, beside one lease, ms. */
const JUDGED = 5_000;
/** Time within which agents must settle, ms. */
const PATIENCE = 400_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A part of the agents. */
class Crowd {
  private readonly child: ChildProcess;

  constructor() {
    const execArgv = ['-r', join(__dirname, 'register.cjs')];
    this.child = fork(join(__dirname, 'support', 'agent-crowd.ts'), [], { execArgv });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  ask(order: CrowdOrder): Promise<CrowdAnswer> {
    return new Promise((resolve) => {
      this.child.once('message', (answer: CrowdAnswer) => resolve(answer));
      this.child.send(order);
    });
  }

  stop(): void {
    this.child.kill('SIGKILL');
  }
}

/** Resolves with the time at which the last of all agents was settled, ms since 1970. */
async function allSettled(crowds: readonly Crowd[]): Promise<number> {
  let settled = 0;
  let reason = '';
  try {
    return await until(
      'all agents are settled',
      async () => {
        await pause(100);
        const answers = await Promise.all(crowds.map((crowd) => crowd.ask({ type: 'look' })));
        settled = answers.reduce((sum, one) => sum + one.settled, 0);
        reason = answers.find((one) => one.reason !== '')?.reason ?? '';
        return settled === AGENTS && Math.max(...answers.map(({ last }) => last));
      },
      PATIENCE,
    );
  } catch (cause) {
    throw new Error(`${settled} of ${AGENTS} agents are settled: ${reason}`, { cause });
  }
}

/** Counters of the zone, of Postgres and of the agents, by name. */
async function counters(zone: StormZone, crowds: readonly Crowd[]): Promise<Readonly<Record<string, number>>> {
  return {
    join_cpu_seconds: cpuSeconds(zone.pid),
    join_postgres_seconds: postgresSeconds(),
    join_agents_seconds: crowds.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0),
    join_transactions: await zone.transactions(),
  };
}

/** Starts the agents; returns what their join cost. */
async function measureJoin(zone: StormZone, crowds: readonly Crowd[]): Promise<Readonly<Record<string, number>>> {
  const share = Math.ceil(AGENTS / crowds.length);
  await Promise.all(
    crowds.map((crowd, i) => {
      const agents = Math.min(share, AGENTS - i * share);
      return crowd.ask({ type: 'create', zone: zone.reached, first: i * share, agents });
    }),
  );
  const before = await counters(zone, crowds);
  const began = Date.now();
  await Promise.all(crowds.map((crowd) => crowd.ask({ type: 'start' })));
  const join_ms = (await allSettled(crowds)) - began;
  // Postgres counts a transaction when its connection is at rest.
  await pause(1_000);
  const after = Object.entries(await counters(zone, crowds));
  const passed = after.map(([name, count]) => [name, Math.round((count - (before[name] ?? 0)) * 100) / 100] as const);
  return { join_ms, ...Object.fromEntries(passed) };
}

async function measure(zone: StormZone, crowds: readonly Crowd[]): Promise<void> {
  const joined = await measureJoin(zone, crowds);
  if (JOIN_ONLY) return report('agents', { agents: AGENTS, ...joined, ...memory(zone.pid) });
  const before = await zone.dataplanes();
  await pause(LEASE);
  await zone.kill();
  await pause(AWAY);
  const transactions = await zone.transactions();
  const started = Date.now();
  await zone.restart();
  const ready = Date.now();
  const cpu = cpuSeconds(zone.pid);
  const last = await allSettled(crowds);
  const cpu_seconds = Math.round((cpuSeconds(zone.pid) - cpu) * 100) / 100;
  const leases = await zone.leases();
  const each = ((await zone.transactions()) - transactions) / AGENTS;
  await pause(2 * LEASE + JUDGED);
  const after = await zone.dataplanes();
  const lost = [...before].filter(([name, made]) => after.get(name) !== made).length;
  report('agents', {
    agents: AGENTS,
    ...joined,
    settle_ms: last - ready,
    from_start_ms: last - started,
    leases,
    lost,
    cpu_seconds,
    ...memory(zone.pid),
    transactions_per_agent: Math.round(each * 10) / 10,
  });
  process.exitCode = lost > 0 ? 1 : 0;
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  // All agents have one address here, and some of their connections have not ended yet when the next ones come.
  const connections = String(10 * AGENTS);
  const zone = await StormZone.start({
    CAUSEWAY_XDS_CONNECTIONS: connections,
    CAUSEWAY_XDS_CONNECTIONS_PER_CLIENT: connections,
    CAUSEWAY_AGENT_LEASE: `${LEASE}ms`,
    NODE_OPTIONS: process.env['BENCH_NODE_OPTIONS'] ?? '',
  });
  const crowds = Array.from({ length: CROWDS }, () => new Crowd());
  try {
    await measure(zone, crowds);
  } finally {
    crowds.forEach((crowd) => crowd.stop());
    await zone.stop();
    await stopServices();
  }
}

runProgram(main);
