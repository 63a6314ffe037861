/**
 * The thread that renews a leader's lease. It loads the driver and nothing else, has one connection, and renews each
 * third of the lease while the event loop's heartbeat is young enough; then it releases the lease and ends.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { Client } from 'pg';
import { DatabaseServers } from '../servers/database-servers';
import { LeaseHeartbeat } from './lease-heartbeat';
import { RELEASE, RENEW } from './lease-statements';

/** The thread's `workerData`. */
export interface LeaseWorkerOptions {
  /** The servers of the database, a URL each. */
  readonly urls: readonly string[];
  readonly epoch: number;
  readonly holder: string;
  readonly leaseMs: number;
  /** Maximum age of the event loop's heartbeat, ms. */
  readonly stallMs: number;
  /** Memory of the LeaseHeartbeat. */
  readonly memory: SharedArrayBuffer;
}

/** The minimum timeout, ms: a busy host cannot connect in less. */
const SHORTEST_TIMEOUT = 100;

class LeaseWorker {
  private readonly heartbeat: LeaseHeartbeat;
  private readonly servers: DatabaseServers;
  private client: Client | undefined;

  constructor(private readonly options: LeaseWorkerOptions) {
    this.heartbeat = new LeaseHeartbeat(options.memory);
    this.servers = new DatabaseServers(options.urls);
  }

  async run(): Promise<void> {
    const { leaseMs, stallMs } = this.options;
    while (this.heartbeat.ended() === undefined) {
      if (this.heartbeat.sinceBeat() > stallMs) await this.giveUp();
      else if (this.heartbeat.sinceRenewal() >= leaseMs / 3) await this.renew();
      await pause(this.untilNextLook());
    }
    parentPort?.postMessage(this.heartbeat.ended());
    await this.client?.end().catch(() => undefined);
  }

  /** ms until the next renewal or the next check of the heartbeat; after a failure a tenth of the lease. */
  private untilNextLook(): number {
    const { leaseMs, stallMs } = this.options;
    const due = leaseMs / 3 - this.heartbeat.sinceRenewal();
    return Math.ceil(Math.min(due > 0 ? due : leaseMs / 10, stallMs / 4));
  }

  /** A failed renewal is retried on a new connection; the lease survives two failures. */
  private async renew(): Promise<void> {
    const { epoch, holder, leaseMs } = this.options;
    const asked = LeaseHeartbeat.now();
    const granted = await this.query({ name: 'renew', text: RENEW, values: [epoch, holder, leaseMs] });
    if (granted === true) this.heartbeat.renewed(asked);
    if (granted === false) this.heartbeat.end('refused');
  }

  /** Marks the end before it releases: an event loop that recovers must not rely on a lease that is being released. */
  private async giveUp(): Promise<void> {
    const { epoch, holder } = this.options;
    this.heartbeat.end('stalled');
    const release = { text: RELEASE, values: [epoch, holder] };
    if ((await this.query(release)) === undefined) await this.query(release);
  }

  /** Returns whether the statement returned rows; undefined if the database did not answer. */
  private async query(statement: { name?: string; text: string; values: unknown[] }): Promise<boolean | undefined> {
    try {
      this.client ??= await this.connect();
      return (await this.client.query(statement)).rows.length > 0;
    } catch {
      const broken = this.client;
      this.client = undefined;
      void broken?.end().catch(() => undefined);
      return undefined;
    }
  }

  private async connect(): Promise<Client> {
    const timeout = Math.max(SHORTEST_TIMEOUT, Math.ceil(this.options.leaseMs / 3));
    const client = this.servers.client({
      application_name: 'causeway lease worker',
      keepAlive: true,
      connectionTimeoutMillis: timeout,
      statement_timeout: timeout,
      query_timeout: timeout,
    });
    client.on('error', () => undefined); // the next statement fails
    try {
      await client.connect();
      return client;
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
  }
}

// eslint-disable-next-line @typescript-eslint/no-unsafe-assignment -- WorkerLeaseKeeper starts the thread with LeaseWorkerOptions
const options: LeaseWorkerOptions = workerData;
void new LeaseWorker(options).run();
