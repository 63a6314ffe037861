import { RESOURCE_TYPES } from '@causeway/xds-server';
import { deltaClient, type DeltaClient } from '../test/support/ads-client';
import { numberSetting, report } from './support/report';
import { ServerProcess } from './support/server-process';
import { summary } from './support/summary';

/**
 * Measures the cost of 1,000 proxies for an xDS server that holds the endpoints of 10,000 services: delta streams on connections of their own,
 * each with 50 names. One endpoint that all of them use changes: ms until each has it, until the last has it, and CPU of the
 * server. Its CPU while nothing changes, in percent of a core, and its memory. The proxies share one process on the other core, so the times are
 * mostly theirs. Prints one JSON line.
 * BENCH_PROXIES (1000), BENCH_SERVICES (10000), BENCH_TRIES (50), BENCH_IDLE: seconds (20).
 */
const PROXIES = numberSetting('BENCH_PROXIES', 1_000);
const SERVICES = numberSetting('BENCH_SERVICES', 10_000);
const TRIES = numberSetting('BENCH_TRIES', 50);
const IDLE = numberSetting('BENCH_IDLE', 20);
const NAMES = 50;
/** Until connections and first states are forgotten, ms. */
const REST = 5_000;

const now = (): number => Number(process.hrtime.bigint()) / 1e6;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Counts the proxies that have the newest endpoint, and acks it. */
class Crowd {
  private readonly clients: DeltaClient[] = [];
  private arrived: number[] = [];
  private wanted: { readonly count: number; readonly resolve: (times: readonly number[]) => void } | undefined;

  /** Connects all proxies; resolves when each has its names. */
  async join(port: number): Promise<void> {
    for (let n = 0; n < PROXIES; n += 50) {
      const joined = this.everyone(Math.min(50, PROXIES - n));
      for (let i = n; i < Math.min(n + 50, PROXIES); i++) this.add(port, i);
      await joined;
    }
  }

  /** Resolves with the times at which the next responses have come to so many proxies. */
  everyone(count = PROXIES): Promise<readonly number[]> {
    this.arrived = [];
    return new Promise((resolve) => (this.wanted = { count, resolve }));
  }

  private add(port: number, n: number): void {
    const client = deltaClient(port, `proxy-${n}`);
    this.clients.push(client);
    client.stream.on('data', () => {
      this.arrived.push(now());
      const response = client.responses.pop();
      if (response) client.ack(response);
      if (this.arrived.length === this.wanted?.count) this.wanted.resolve(this.arrived);
    });
    const others = Array.from({ length: NAMES - 1 }, (_, i) => `service-${1 + ((n * 7 + i * 13) % (SERVICES - 1))}`);
    client.send({ typeUrl: RESOURCE_TYPES.endpoints, resourceNamesSubscribe: ['service-0', ...others] });
  }
}

async function main(): Promise<void> {
  const server = await ServerProcess.start('xds-server.ts', [String(SERVICES)]);
  try {
    const crowd = new Crowd();
    const began = now();
    await crowd.join(server.port);
    const joined_ms = Math.round(now() - began);
    await pause(REST);
    const cpuBefore = await server.cpuSeconds();
    const [each, last]: [number[], number[]] = [[], []];
    for (let n = 0; n < TRIES; n++) {
      const everyone = crowd.everyone();
      const { at = 0 } = await server.change();
      const times = (await everyone).map((time) => time - at);
      each.push(...times);
      last.push(Math.max(...times));
      await pause(50);
    }
    const cpu_ms_each = Math.round(((await server.cpuSeconds()) - cpuBefore) * (1e4 / TRIES)) / 10;
    await pause(REST);
    const before = await server.cpuSeconds();
    await pause(IDLE * 1_000);
    const idle_percent = Math.round(((await server.cpuSeconds()) - before) * (1e4 / Math.max(IDLE, 1))) / 100;
    const { rss = 0, responses = 0 } = await server.tell();
    report('xds', {
      proxies: PROXIES,
      services: SERVICES,
      names: NAMES,
      joined_ms,
      each: summary(each),
      last: summary(last),
      cpu_ms_each,
      idle_percent,
      rss_mb: Math.round(rss / 1e6),
      responses,
    });
  } finally {
    server.stop();
  }
  process.exit(0);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
