import { Backoff, errorText, systemClock, withTimeout, type Logger } from '@causeway/runtime';
import { ANSWER_TIMEOUT, connectTo, findLockServer, type RedisConnection } from './lock-server';
import type { RedisServers } from './redis-url';

const MAX_PAUSE = 1_000;
/** Errors of a server that no longer has the lock: it became a replica, or the key's slot moved or has no owner. */
const MOVED = /^(READONLY|MOVED|ASK|TRYAGAIN|CLUSTERDOWN|MASTERDOWN|LOADING)\b|-READONLY\b/;

/**
 * Connection to the server that has the lock. Finds that server and connects in the background, and again when the connection
 * breaks, the server does not answer, or it reports that it no longer has the lock. Meanwhile calls reject immediately.
 */
export class LockConnection {
  private readonly closing = new AbortController();
  private client: RedisConnection | undefined;
  private away = false;

  constructor(
    private readonly servers: RedisServers,
    private readonly key: string,
    private readonly logger: Logger,
  ) {
    void this.run();
  }

  /** Whether the connection is open. */
  get connected(): boolean {
    return this.client?.isReady ?? false;
  }

  /** Sends a command. Late answers of an abandoned server are ignored. */
  async call<T>(command: (client: RedisConnection) => Promise<T>): Promise<T> {
    const { client } = this;
    if (!client?.isReady) throw new Error('Redis is away');
    let answered = false;
    try {
      const answer = command(client).finally(() => (answered = true));
      return await withTimeout(systemClock, ANSWER_TIMEOUT, answer);
    } catch (error) {
      if (client.isOpen && (!answered || MOVED.test(errorText(error)))) client.destroy();
      throw error;
    }
  }

  close(): void {
    this.closing.abort();
    if (this.client?.isOpen) this.client.destroy();
  }

  /** Never rejects. */
  private async run(): Promise<void> {
    const { signal } = this.closing;
    const backoff = new Backoff({ base: 50, cap: MAX_PAUSE });
    while (!signal.aborted) {
      try {
        await this.serveOnce(() => backoff.reset());
        this.report('the connection ended');
      } catch (error) {
        this.report(errorText(error));
      }
      await systemClock.sleep(backoff.next(), signal);
    }
  }

  /** Connects, and resolves when the connection has ended. */
  private async serveOnce(onReady: () => void): Promise<void> {
    const client = await connectTo(await findLockServer(this.servers, this.key));
    const ended = new Promise<void>((resolve) => {
      client.once('terminated', () => resolve()); // by the server, where the driver does not connect again
      client.once('end', resolve);
    });
    if (!client.isReady) throw new Error('the connection ended');
    if (this.closing.signal.aborted) return client.destroy();
    this.client = client;
    if (this.away) this.logger.info('Redis is back');
    this.away = false;
    onReady();
    await ended;
  }

  private report(error: string): void {
    if (!this.away && !this.closing.signal.aborted) this.logger.warn('Redis is away', { error });
    this.away = true;
  }
}
