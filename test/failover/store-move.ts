import type { EmbeddedPostgres } from '../../scripts/lib/embedded-postgres.mjs';
import { InstalledPostgres } from '../support/installed-postgres';
import { rowsOf } from '../support/postgres';
import { dataplane } from '../support/process-mesh';
import { ProcessPlane } from '../support/process-plane';
import { until } from '../support/until';
import { StoreWatch, WATCHED, type Seen } from './store-watch';

/** Cost of a move of a store, ms. */
export interface MoveCost extends Seen {
  /** Time for stopping the old server and promoting the new one. */
  readonly serversMs: number;
  /** From the order to stop the old server until a write was answered again. */
  readonly writesAwayMs: number;
  /** From the same moment until a new instance had its service, which takes a leader that works. */
  readonly leaderAwayMs: number;
  /** The whole move, without the base backup. */
  readonly moveMs: number;
}

const DATABASE = 'causeway_east';

/** A zone of two replicas whose store is moved to another server under load, by the steps of docs/guides/backup.md. */
export class StoreMove {
  private replicas: ProcessPlane[] = [];
  private oldServer: EmbeddedPostgres | undefined;
  private newServer: EmbeddedPostgres | undefined;

  private constructor(private readonly postgres: InstalledPostgres) {}

  static async run(): Promise<MoveCost> {
    const move = new StoreMove(await InstalledPostgres.create());
    try {
      await move.begin();
      return await move.measured();
    } finally {
      await Promise.all(move.replicas.map((one) => one.stop()));
      await move.postgres.stop();
    }
  }

  private async begin(): Promise<void> {
    this.oldServer = await this.postgres.serve('old');
    await rowsOf(this.oldServer.url('postgres'), `CREATE DATABASE ${DATABASE}`);
    const url = this.oldServer.url(DATABASE);
    this.replicas = [await startReplica(url), await startReplica(url)];
    const [one] = this.replicas;
    await one?.put(`/meshes/default/dataplanes/${WATCHED}-1`, dataplane(`${WATCHED}-1`, WATCHED));
    await until('the service has its name', async () => (await this.hostname()) !== undefined);
  }

  private async measured(): Promise<MoveCost> {
    await this.copy();
    const watch = new StoreWatch(() => this.replicas, (await this.hostname()) ?? '');
    await watch.writes();
    const began = performance.now();
    await this.replaceReplicas(this.urlOfBoth());
    const stopped = performance.now();
    await this.postgres.run('pg_ctl', '-D', this.postgres.files('old'), '-m', 'fast', 'stop');
    await this.postgres.run('pg_ctl', '-D', this.postgres.files('new'), 'promote');
    const serversMs = Math.round(performance.now() - stopped);
    await watch.writes();
    const writesAwayMs = Math.round(performance.now() - stopped);
    await until('the leader works', () => this.works());
    const leaderAwayMs = Math.round(performance.now() - stopped);
    await this.replaceReplicas(this.newServer?.url(DATABASE) ?? '');
    const moveMs = Math.round(performance.now() - began);
    await watch.writes();
    return { ...(await watch.stop()), serversMs, writesAwayMs, leaderAwayMs, moveMs };
  }

  /** A standby on the new server, which has caught up. */
  private async copy(): Promise<void> {
    const { postgres } = this;
    const source = this.oldServer?.url('postgres') ?? '';
    await postgres.ownFolder('new');
    await postgres.run(
      'pg_basebackup',
      '-d',
      source,
      '-D',
      postgres.files('new'),
      '-R',
      '-C',
      '-S',
      'move',
      '-c',
      'fast',
    );
    this.newServer = await postgres.serve('new');
    const streaming = `SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND replay_lsn = pg_current_wal_lsn()`;
    await until('the standby has caught up', async () => (await rowsOf(source, streaming)).length > 0);
  }

  /** One after the other, each once the one before is ready. */
  private async replaceReplicas(url: string): Promise<void> {
    for (const old of this.replicas) {
      await old.stop();
      this.replicas = this.replicas.filter((one) => one !== old);
      this.replicas.push(await startReplica(url));
    }
  }

  private urlOfBoth(): string {
    const one = new URL(this.oldServer?.url(DATABASE) ?? '');
    const hosts = `${one.host},127.0.0.1:${this.newServer?.port}`;
    return `${one.href.replace(one.host, hosts)}?target_session_attrs=read-write`;
  }

  private async hostname(): Promise<string | undefined> {
    const service = await this.replicas[0]?.get(`/meshes/default/meshservices/${WATCHED}`);
    const { addresses = [] } = (service?.['status'] ?? {}) as { addresses?: readonly { hostname?: string }[] };
    return addresses[0]?.hostname;
  }

  /** Whether a leader makes the service of a new instance. */
  private async works(): Promise<boolean> {
    const [one] = this.replicas;
    const name = `moved-${Date.now()}`;
    await one?.put(`/meshes/default/dataplanes/${name}`, dataplane(name, name)).catch(() => 0);
    return until(
      'its service is there',
      async () => (await one?.get(`/meshes/default/meshservices/${name}`)) !== undefined,
    );
  }
}

function startReplica(url: string): Promise<ProcessPlane> {
  return ProcessPlane.start('zone', 'east', { DATABASE_URL: url });
}
