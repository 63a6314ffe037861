import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../scripts/lib/ports.mjs';
import { RedisServer, type RedisTls } from '../chaos/leader/redis-server';
import { until } from '../support/until';

const SERVICE = 'causeway';
/** Silence after which the Sentinels promote the replica, ms. */
const DOWN_AFTER = 1_000;
/** Passwords of the servers and of the Sentinels: they differ, so that a mix-up fails. */
const [PASSWORD, SENTINEL_PASSWORD] = ['of/the server', 'of the sentinels'];

/** A Redis with a replica, and three Sentinels of which two decide; all ask for a password. */
export class RedisSentinels {
  private constructor(
    private readonly folder: string,
    readonly servers: readonly RedisServer[],
    readonly sentinels: readonly RedisServer[],
  ) {}

  /** Starts all; resolves when each Sentinel knows the replica and the other Sentinels. */
  static async start(tls?: RedisTls): Promise<RedisSentinels> {
    const folder = await mkdtemp(join(tmpdir(), 'causeway-sentinel-'));
    const started: RedisServer[] = [];
    const keep = async (starting: Promise<RedisServer>): Promise<RedisServer> => {
      const one = await starting;
      started.push(one);
      return one;
    };
    const own = tls && { tls };
    try {
      const secret = ['--requirepass', PASSWORD, '--masterauth', PASSWORD];
      const first = await keep(RedisServer.start({ more: secret, ...own }));
      const follow = ['--replicaof', '127.0.0.1', String(first.port)];
      const more = [...secret, ...follow, '--repl-diskless-sync-delay', '0'];
      const second = await keep(RedisServer.start({ more, ...own }));
      const sentinels = await Promise.all(
        [1, 2, 3].map((n) => startSentinel(join(folder, `${n}.conf`), first.port, tls)),
      );
      started.push(...sentinels);
      const all = new RedisSentinels(folder, [first, second], sentinels);
      await until('the Sentinels know each other and the replica', () => all.complete());
      return all;
    } catch (error) {
      await Promise.all(started.map((one) => one.kill()));
      throw error;
    }
  }

  get url(): string {
    const hosts = this.sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const [own, theirs] = [PASSWORD, SENTINEL_PASSWORD].map(encodeURIComponent);
    const [scheme] = this.servers[0]?.url.split(':') ?? [];
    return `${scheme}+sentinel://:${own}@${hosts}/${SERVICE}/1?sentinel_password=${theirs}`;
  }

  /** The port of the server that the Sentinels call the master. */
  async masterPort(): Promise<number> {
    const [sentinel] = this.sentinels;
    const answer = await ask(sentinel, ['SENTINEL', 'get-master-addr-by-name', SERVICE]);
    return Number(Array.isArray(answer) ? answer[1] : undefined);
  }

  /** The server that the Sentinels call the master: a busy machine may have made them promote the other before. */
  async master(): Promise<RedisServer> {
    const port = await this.masterPort();
    const found = this.servers.find((one) => one.port === port);
    if (!found) throw new Error(`no server has port ${port}`);
    return found;
  }

  /** Returns the value of a key at the server of this port, in the database that the URL names. */
  async valueOf(port: number, key: string): Promise<unknown> {
    const server = this.servers.find((one) => one.port === port);
    return server?.ask(['GET', key], `:${encodeURIComponent(PASSWORD)}@`, 1);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.servers, ...this.sentinels].map((one) => one.kill()));
    await rm(this.folder, { recursive: true, force: true });
  }

  private async complete(): Promise<boolean> {
    const seen = await Promise.all(
      this.sentinels.map(async (one) => {
        const facts = await ask(one, ['SENTINEL', 'master', SERVICE]);
        const said = JSON.stringify(facts);
        return said.includes('"num-slaves":"1"') && said.includes('"num-other-sentinels":"2"');
      }),
    );
    return seen.every(Boolean);
  }
}

async function startSentinel(file: string, port: number, tls: RedisTls | undefined): Promise<RedisServer> {
  const own = await freePort();
  await writeFile(
    file,
    [
      `requirepass "${SENTINEL_PASSWORD}"`,
      `sentinel sentinel-pass "${SENTINEL_PASSWORD}"`,
      `sentinel monitor ${SERVICE} 127.0.0.1 ${port} 2`,
      `sentinel auth-pass ${SERVICE} "${PASSWORD}"`,
      `sentinel down-after-milliseconds ${SERVICE} ${DOWN_AFTER}`,
      `sentinel failover-timeout ${SERVICE} 3000`,
    ].join('\n'),
  );
  return RedisServer.start({ port: own, mode: 'sentinel', file, ...(tls && { tls }) });
}

async function ask(sentinel: RedisServer | undefined, command: string[]): Promise<unknown> {
  return sentinel?.ask(command, `:${encodeURIComponent(SENTINEL_PASSWORD)}@`);
}
