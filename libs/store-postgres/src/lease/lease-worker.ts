/**
 * The thread that renews a leader's lease. It loads the driver and nothing else, has one connection, and renews each
 * third of the lease while the event loop's heartbeat is young enough; then it releases the lease and ends.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { Client } from 'pg';
import { LeaseHeartbeat } from './lease-heartbeat';
import { RELEASE, RENEW } from './postgres-lease';

/** What the thread is given at its start. */
export interface LeaseWorkerData {
  readonly url: string;
  readonly epoch: number;
  readonly holder: string;
  readonly leaseMs: number;
  /** How old the event loop's heartbeat may be, ms. */
  readonly stallMs: number;
  /** Of a LeaseHeartbeat. */
  readonly memory: SharedArrayBuffer;
}

/** Shorter than that no connection can be made on a busy machine, ms. */
const SHORTEST_TIMEOUT = 100;

class LeaseWorker {
  private readonly pulse: LeaseHeartbeat;
  private client: Client | undefined;

  constructor(private readonly order: LeaseWorkerData) {
    this.pulse = new LeaseHeartbeat(order.memory);
  }

  async run(): Promise<void> {
    const { leaseMs, stallMs } = this.order;
    while (this.pulse.ended() === undefined) {
      if (this.pulse.sinceBeat() > stallMs) await this.giveUp();
      else if (this.pulse.sinceRenewal() >= leaseMs / 3) await this.renew();
      await pause(this.untilNextLook());
    }
    parentPort?.postMessage(this.pulse.ended());
    await this.client?.end().catch(() => undefined);
  }

  /** Until the next renewal is due, or sooner where the heartbeat has to be looked at; after a failure, a moment. */
  private untilNextLook(): number {
    const { leaseMs, stallMs } = this.order;
    const due = leaseMs / 3 - this.pulse.sinceRenewal();
    return Math.ceil(Math.min(due > 0 ? due : leaseMs / 10, stallMs / 4));
  }

  /** A renewal that fails is tried again on a new connection; the lease bears two of them. */
  private async renew(): Promise<void> {
    const { epoch, holder, leaseMs } = this.order;
    const asked = LeaseHeartbeat.now();
    const granted = await this.query({ name: 'renew', text: RENEW, values: [epoch, holder, leaseMs] });
    if (granted === true) this.pulse.renewed(asked);
    if (granted === false) this.pulse.end('refused');
  }

  /** Says so before it does: a loop that comes back must not believe in a lease that is being released. */
  private async giveUp(): Promise<void> {
    const { epoch, holder } = this.order;
    this.pulse.end('stalled');
    const release = { text: RELEASE, values: [epoch, holder] };
    if ((await this.query(release)) === undefined) await this.query(release);
  }

  /** Whether the statement gave rows; undefined when the database did not answer. */
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
    const timeout = Math.max(SHORTEST_TIMEOUT, Math.ceil(this.order.leaseMs / 3));
    const client = new Client({
      connectionString: this.order.url,
      application_name: 'causeway lease worker',
      keepAlive: true,
      connectionTimeoutMillis: timeout,
      statement_timeout: timeout,
      query_timeout: timeout,
    });
    client.on('error', () => undefined); // the next statement tells
    try {
      await client.connect();
      return client;
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
  }
}

// eslint-disable-next-line @typescript-eslint/no-unsafe-assignment -- the one who starts the thread gives a LeaseWorkerData
const order: LeaseWorkerData = workerData;
void new LeaseWorker(order).run();
