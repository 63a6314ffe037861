import { Backoff, type Clock, errorText, type Logger, sleepUntilTick } from '@causeway/runtime';
import type { Client } from 'pg';
import type { DatabaseServers } from '../servers/database-servers';

export interface NotifyListenerOptions {
  readonly servers: DatabaseServers;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Callback of each channel. `backend`: the server process that notified; undefined after a new connection. */
  readonly channels: Readonly<Record<string, (backend: number | undefined) => void>>;
  /** Called when a connection was opened after one that had not answered: older connections may have no server any more. */
  readonly afterSilence: () => void;
}

/** Interval of the statements that check a silent connection, ms. */
const PROBE_EVERY = 3_000;
const PROBE_TIMEOUT = 5_000;
/** A probe that fails after at least this time was not answered, ms: a broken connection fails at once. */
const SILENT = PROBE_TIMEOUT / 2;

/**
 * LISTENs on a connection of its own and reconnects when that breaks. A notification is only a wake-up (docs/design.md
 * §2.3): readers read on from their revision. So each new connection calls every channel once, for missed notifications.
 */
export class NotifyListener {
  private readonly closing = new AbortController();
  private readonly backoff = new Backoff({ base: 50, cap: 2_000 });
  private connected = false;
  private connections = 0;
  private wasSilent = false;
  /** Reason for which the last connection ended or failed; undefined while there is one. */
  private failure: string | undefined;
  private readonly running: Promise<void>;

  constructor(private readonly options: NotifyListenerOptions) {
    this.running = this.run();
  }

  status(): { readonly listening: boolean; readonly connections: number; readonly failure?: string | undefined } {
    return { listening: this.connected, connections: this.connections, failure: this.failure };
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { clock, logger } = this.options;
    while (!this.closing.signal.aborted) {
      try {
        await this.listenOnce();
      } catch (error) {
        if (this.closing.signal.aborted) return;
        this.failure = errorText(error);
        logger.warn('listening to the database failed, connecting again', { error: this.failure });
      }
      await clock.sleep(this.backoff.next(), this.closing.signal);
    }
  }

  /** Listens until the connection ends. */
  private async listenOnce(): Promise<void> {
    const { servers, channels } = this.options;
    const client = servers.client({
      application_name: 'causeway listener',
      keepAlive: true,
      connectionTimeoutMillis: PROBE_TIMEOUT,
      query_timeout: PROBE_TIMEOUT,
    });
    const ended = new AbortController();
    client.on('error', (error) => ended.abort(error));
    client.on('end', () => ended.abort(new Error('the connection ended')));
    client.on('notification', ({ channel, processId }) => channels[channel]?.(processId));
    try {
      await client.connect();
      for (const channel of Object.keys(channels)) await client.query(`LISTEN ${channel}`);
      this.listening();
      await this.probe(client, ended.signal);
    } finally {
      this.connected = false;
      await client.end().catch(() => undefined);
    }
  }

  private listening(): void {
    this.connected = true;
    this.failure = undefined;
    this.connections++;
    this.backoff.reset();
    for (const call of Object.values(this.options.channels)) call(undefined);
    if (this.wasSilent) this.options.afterSilence();
    this.wasSilent = false;
  }

  private async probe(client: Client, ended: AbortSignal): Promise<void> {
    const until = AbortSignal.any([ended, this.closing.signal]);
    while (!until.aborted) {
      await sleepUntilTick(this.options.clock, PROBE_EVERY, until);
      if (ended.aborted) throw ended.reason;
      if (until.aborted) return;
      const asked = this.options.clock.elapsed();
      await client.query('SELECT 1').catch((error: unknown) => {
        this.wasSilent ||= this.options.clock.elapsed() - asked >= SILENT;
        if (this.wasSilent) this.options.servers.doubt();
        throw error;
      });
    }
  }
}
