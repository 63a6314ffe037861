import { until } from '../support/until';
import { ProcessPlane, type PlaneEnvironment } from '../support/process-plane';
import { PostgresPair, type Replication } from './postgres-pair';
import { RedisSentinels } from './redis-sentinels';

/** Cost of one fault, ms. */
export interface FaultCost {
  readonly fault: string;
  /** From the fault, or from the promotion where the fault is the primary's, to the first answered write after it. */
  readonly writesAwayMs: number;
  /** To the moment a new instance has its service, which takes a leader that works. */
  readonly leaderAwayMs: number;
  /** Writes that were answered before and are not there. */
  readonly lostWrites: number;
}

const DATABASE = 'causeway';
const SETTLED_WRITES = 20;

/** Two replicas of a zone on a primary with a standby, with the lock at a Redis that Sentinels watch, under writes. */
export class FailoverFigures {
  private readonly replicas: ProcessPlane[] = [];
  private readonly answered: string[] = [];
  private written = 0;

  private constructor(
    private readonly pair: PostgresPair,
    private readonly redis: RedisSentinels,
  ) {}

  static async start(replication: Replication): Promise<FailoverFigures> {
    const pair = await PostgresPair.start(replication);
    const figures = new FailoverFigures(pair, await RedisSentinels.start());
    try {
      await pair.ask(pair.firstUrl('postgres'), `CREATE DATABASE ${DATABASE}`);
      await figures.replica();
      await figures.replica();
      await until('a write is answered', () => figures.write());
      await until('the leader works', () => figures.works());
      return figures;
    } catch (error) {
      await figures.stop();
      throw error;
    }
  }

  /** The leader is killed by kill -9; the other replica takes the writes. */
  async killLeader(): Promise<FaultCost> {
    const leader = await until('one leads', () => this.leader());
    this.replicas.splice(this.replicas.indexOf(leader), 1);
    const cost = await this.costOf('the leader is killed', () => leader.kill());
    await this.replica();
    return cost;
  }

  /** The master of Redis is killed, and the Sentinels promote its replica. */
  async killRedis(): Promise<FaultCost> {
    const master = await this.redis.masterPort();
    const server = this.redis.servers.find(({ port }) => port === master);
    return this.costOf('the master of Redis is killed', async () => server?.kill());
  }

  /** The primary is killed, and its standby is promoted at once; counted from the moment that it takes writes. */
  killPrimary(): Promise<FaultCost> {
    return this.costOf('the primary is killed, its standby promoted', async () => {
      await this.pair.killFirst();
      await this.pair.promoteSecond();
    });
  }

  /** The primary runs and cannot be reached, without an error; its standby is promoted at once. */
  silencePrimary(): Promise<FaultCost> {
    return this.costOf('the primary is silent, its standby promoted', async () => {
      this.pair.silenceFirst();
      await this.pair.promoteSecond();
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.replicas.map((one) => one.stop()));
    await this.redis.stop();
    await this.pair.stop();
  }

  private async replica(): Promise<void> {
    const env: PlaneEnvironment = { DATABASE_URL: this.pair.url(DATABASE), REDIS_URL: this.redis.url };
    this.replicas.push(await ProcessPlane.start('zone', 'east', env));
  }

  private async leader(): Promise<ProcessPlane | undefined> {
    for (const one of this.replicas) if ((await one.metric('causeway_leader').catch(() => 0)) === 1) return one;
    return undefined;
  }

  private async costOf(fault: string, cause: () => Promise<void>): Promise<FaultCost> {
    await until('writes are answered', async () => (await this.write()) && this.answered.length >= SETTLED_WRITES);
    await cause();
    const began = performance.now();
    await until('a write is answered', () => this.write());
    const writesAwayMs = Math.round(performance.now() - began);
    await until('the leader works', () => this.works());
    const leaderAwayMs = Math.round(performance.now() - began);
    return { fault, writesAwayMs, leaderAwayMs, lostWrites: await this.lost() };
  }

  /** Whether a write through a replica that runs is answered with success. */
  private async write(): Promise<boolean> {
    const name = `web-${this.written++}`;
    const networking = { address: '10.1.0.1', inbound: [{ port: 80, tags: { 'kuma.io/service': `s-${name}` } }] };
    const body = { type: 'Dataplane', mesh: 'default', name, spec: { networking } };
    const status = await this.replicas[0]?.put(`/meshes/default/dataplanes/${name}`, body).catch(() => 0);
    if (status === undefined || status < 200 || status > 299) return false;
    this.answered.push(name);
    return true;
  }

  /** Whether a leader has made the service of the instance that was answered last. */
  private async works(): Promise<boolean> {
    const name = this.answered.at(-1);
    return (await this.replicas[0]?.get(`/meshes/default/meshservices/s-${name}`)) !== undefined;
  }

  private async lost(): Promise<number> {
    const there = await Promise.all(
      this.answered.map(
        async (name) => (await this.replicas[0]?.get(`/meshes/default/dataplanes/${name}`)) !== undefined,
      ),
    );
    return there.filter((found) => !found).length;
  }
}
