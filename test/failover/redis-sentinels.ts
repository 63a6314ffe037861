import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../scripts/lib/ports.mjs';
import { askRedis, RedisServer } from '../chaos/leader/redis-server';
import { until } from '../support/until';

const SERVICE = 'causeway';
/** Silence after which the Sentinels promote the replica, ms. */
const DOWN_AFTER = 1_000;
/** Of the servers and of the Sentinels: they differ, so that nobody takes one for the other. */
const [PASSWORD, SENTINEL_PASSWORD] = ['of/the server', 'of the sentinels'];

/** A Redis with a replica, and three Sentinels of which two decide; all ask for a password. */
export class RedisSentinels {
  private constructor(
    private readonly folder: string,
    readonly servers: readonly RedisServer[],
    readonly sentinels: readonly RedisServer[],
  ) {}

  /** Starts all; resolves when each Sentinel knows the replica and the other Sentinels. */
  static async start(): Promise<RedisSentinels> {
    const folder = await mkdtemp(join(tmpdir(), 'causeway-sentinel-'));
    const started: RedisServer[] = [];
    const keep = async (starting: Promise<RedisServer>): Promise<RedisServer> => {
      const one = await starting;
      started.push(one);
      return one;
    };
    try {
      const secret = ['--requirepass', PASSWORD, '--masterauth', PASSWORD];
      const first = await keep(RedisServer.start({ more: secret }));
      const follow = ['--replicaof', '127.0.0.1', String(first.port)];
      const second = await keep(RedisServer.start({ more: [...secret, ...follow, '--repl-diskless-sync-delay', '0'] }));
      const sentinels = await Promise.all([1, 2, 3].map((n) => startSentinel(join(folder, `${n}.conf`), first.port)));
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
    return `redis+sentinel://:${own}@${hosts}/${SERVICE}/1?sentinel_password=${theirs}`;
  }

  /** The port of the server that the Sentinels call the master. */
  async masterPort(): Promise<number> {
    const [sentinel] = this.sentinels;
    const answer = await ask(sentinel, ['SENTINEL', 'get-master-addr-by-name', SERVICE]);
    return Number(Array.isArray(answer) ? answer[1] : undefined);
  }

  /** What the server of this port has under a key, in the database that the URL names. */
  valueOf(port: number, key: string): Promise<unknown> {
    return askRedis(`redis://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/1`, ['GET', key]);
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

async function startSentinel(file: string, port: number): Promise<RedisServer> {
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
  return RedisServer.start({ port: own, mode: 'sentinel', file });
}

function ask(sentinel: RedisServer | undefined, command: string[]): Promise<unknown> {
  return askRedis(`redis://:${encodeURIComponent(SENTINEL_PASSWORD)}@127.0.0.1:${sentinel?.port}`, command);
}
