import { Client } from 'pg';
import type { PostgresBackend } from '@causeway/store-postgres';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { createTestDatabase, type TestDatabase } from '../../support/postgres';
import { until } from '../../support/until';
import { beginAudit, readAudit, type AuditReport } from './audit';
import { bundleCandidate, CandidateProcess, type CandidateEvent } from './candidate-process';
import { Load } from './load';
import { RedisServer } from './redis-server';

export interface ChaosOptions {
  /** Forced changes of the leader. */
  readonly changes: number;
  readonly leaseMs: number;
}

export interface ChaosReport extends AuditReport {
  readonly changes: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly takeOverMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly acknowledgedWrites: number;
  /** I9: writes that were answered with success and are gone. */
  readonly lostWrites: number;
}

const CANDIDATES = 3;
/** Faults that end the leader's term, and their weights: a process that starts costs seconds, a pause does not. */
const FAULTS = [
  'pause',
  'pause',
  'step-down',
  'step-down',
  'pause',
  'kill',
  'wipe and pause',
  'redis away and pause',
] as const;
type Fault = (typeof FAULTS)[number];

/** Drives the leader out again and again under load, and reports what Postgres itself recorded meanwhile. */
export async function runLeaderChaos(options: ChaosOptions): Promise<ChaosReport> {
  const database = await createTestDatabase();
  const redis = await RedisServer.start();
  const program = await bundleCandidate();
  const backend = await createPostgresBackend({ url: database.url, poolSize: 12 });
  const load = new Load(backend.store);
  const chaos = new LeaderChaos(options, { program: program.file, database, redis, backend, load });
  try {
    return await chaos.run();
  } finally {
    await load.halt();
    await chaos.close();
    await backend.close();
    await redis.kill();
    await database.drop();
    program.remove();
  }
}

interface Servers {
  readonly program: string;
  readonly database: TestDatabase;
  readonly redis: RedisServer;
  readonly backend: PostgresBackend;
  readonly load: Load;
}

class LeaderChaos {
  private candidates: CandidateProcess[] = [];
  private epoch = 0;
  private leader: CandidateProcess | undefined;
  private readonly takeOvers: number[] = [];
  private readonly faults: Record<string, number> = {};

  constructor(
    private readonly options: ChaosOptions,
    private readonly servers: Servers,
  ) {}

  async run(): Promise<ChaosReport> {
    const admin = new Client({ connectionString: this.servers.database.url });
    await admin.connect();
    await beginAudit(admin);
    const { load } = this.servers;
    await load.start();
    for (let n = 0; n < CANDIDATES; n++) this.add();
    await until('somebody leads', () => this.leader);
    for (let n = 0; n < this.options.changes; n++) await this.change(FAULTS[n % FAULTS.length] ?? 'pause');
    // A short run may end before the first address has rested.
    await until('an address was handed on', async () => (await readAudit(admin)).handedOn > 0);
    const { writes, lost } = await load.stop();
    await this.close();
    const audit = await readAudit(admin);
    await admin.end();
    const figures = { changes: this.takeOvers.length, faults: this.faults, takeOverMs: figuresOf(this.takeOvers) };
    return { ...figures, acknowledgedWrites: writes, lostWrites: lost, ...audit };
  }

  async close(): Promise<void> {
    await Promise.all(this.candidates.splice(0).map((one) => one.end()));
  }

  private add(): void {
    const { program, database, redis } = this.servers;
    const { leaseMs } = this.options;
    const onEvent = (candidate: CandidateProcess, event: CandidateEvent): void => this.hear(candidate, event);
    this.candidates.push(new CandidateProcess({ program, database: database.url, redis: redis.url, leaseMs, onEvent }));
  }

  private hear(candidate: CandidateProcess, { event, epoch }: CandidateEvent): void {
    if (event === 'lead' && epoch > this.epoch) [this.epoch, this.leader] = [epoch, candidate];
  }

  /** Ends the present leader's term, waits for the next epoch and repairs what was broken. */
  private async change(fault: Fault): Promise<void> {
    await until(
      'another candidate stands by',
      () => this.candidates.filter((one) => one.ready && one.alive).length > 1,
    );
    const driven = this.leader;
    if (!driven) throw new Error('nobody leads');
    const before = this.epoch;
    const started = performance.now();
    await this.breakIt(fault, driven);
    await until(`somebody leads after ${fault}, change ${this.takeOvers.length + 1}`, () => this.epoch > before);
    this.takeOvers.push(performance.now() - started);
    this.faults[fault] = (this.faults[fault] ?? 0) + 1;
    await this.mend(fault, driven);
  }

  private async breakIt(fault: Fault, leader: CandidateProcess): Promise<void> {
    const { redis } = this.servers;
    switch (fault) {
      case 'step-down':
        return leader.stepDown();
      case 'kill':
        return leader.kill();
      case 'wipe and pause':
        await redis.wipe();
        return leader.signal('SIGSTOP');
      case 'redis away and pause':
        await redis.kill();
        return leader.signal('SIGSTOP');
      case 'pause':
        return leader.signal('SIGSTOP');
    }
  }

  /** A leader that wakes up now finds another in its place, and must not commit. */
  private async mend(fault: Fault, driven: CandidateProcess): Promise<void> {
    if (fault === 'redis away and pause') await this.servers.redis.start();
    if (fault === 'kill') {
      this.candidates = this.candidates.filter((one) => one !== driven);
      this.add();
    } else {
      driven.signal('SIGCONT');
    }
  }
}

function figuresOf(times: readonly number[]): ChaosReport['takeOverMs'] {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number): number =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}
