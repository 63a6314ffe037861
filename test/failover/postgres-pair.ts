import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { QueryResultRow } from 'pg';
import type { EmbeddedPostgres } from '../../scripts/lib/embedded-postgres.mjs';
import { Link } from '../support/link';
import { rowsOf } from '../support/postgres';
import { until } from '../support/until';

/** Whether a commit waits for the standby before it is answered. */
export type Replication = 'synchronous' | 'asynchronous';

/** One of the two servers: its folder and its port. */
interface Member {
  readonly folder: string;
  readonly port: number;
  running: EmbeddedPostgres | undefined;
}

const STANDBY_NAME = 'standby';

/**
 * Two Postgres servers with streaming replication, in a folder of their own, on ports that stay the same. The primary can
 * be killed, the standby promoted, and the old primary started again as it was, which makes two servers that take writes.
 */
export class PostgresPair {
  private constructor(
    private readonly folder: string,
    private readonly first: Member,
    private readonly second: Member,
    /** The way of control planes to the first. */
    private readonly way: Link,
  ) {}

  /** Makes the files of a server that was shut down, from which pairs start: `initdb` costs as much as their whole life. */
  static async makeFiles(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'causeway-pair-files-'));
    await chmod(folder, 0o755); // Postgres may run as another user
    const { freePort } = await import('../../scripts/lib/ports.mjs');
    const { startPostgres } = await import('../../scripts/lib/embedded-postgres.mjs');
    const server = await startPostgres({ folder, port: await freePort() });
    await server.stop();
    return folder;
  }

  /** Starts both with such files, or their own; resolves when the standby follows the primary. */
  static async start(replication: Replication, files?: string): Promise<PostgresPair> {
    const folder = await mkdtemp(join(tmpdir(), 'causeway-pair-'));
    await chmod(folder, 0o755); // Postgres may run as another user
    const { freePort } = await import('../../scripts/lib/ports.mjs');
    const member = async (name: string): Promise<Member> => ({
      folder: join(folder, name),
      port: await freePort(),
      running: undefined,
    });
    const pair = new PostgresPair(folder, await member('first'), await member('second'), new Link());
    try {
      await pair.begin(replication, files ?? (await pair.ownFiles()));
      return pair;
    } catch (error) {
      await pair.stop();
      throw error;
    }
  }

  /** Names both servers, as `DATABASE_URL` of a control plane does. */
  url(database: string): string {
    const one = new URL(this.firstUrl(database));
    const hosts = [this.way, this.second].map(({ port }) => `127.0.0.1:${port}`).join(',');
    return one.href.replace(one.host, hosts) + '?target_session_attrs=read-write';
  }

  /** Of the server that is the primary first. */
  firstUrl(database: string): string {
    return serverOf(this.first).url(database);
  }

  /** Of the server that is the standby first. */
  secondUrl(database: string): string {
    return serverOf(this.second).url(database);
  }

  /** Kills the first primary by kill -9. */
  async killFirst(): Promise<void> {
    await serverOf(this.first).crash();
  }

  /** Nothing of control planes reaches the first any more, nor comes back, and no connection breaks. */
  silenceFirst(): void {
    this.way.silence();
  }

  /** Kills the server that was promoted. */
  async killSecond(): Promise<void> {
    await serverOf(this.second).crash();
  }

  /** Starts the first primary again as it was: it knows nothing of the promotion and takes writes. */
  async reviveFirst(): Promise<void> {
    await this.serve(this.first, {});
  }

  /** Makes the standby a primary; resolves when it takes writes. */
  async promoteSecond(): Promise<void> {
    await this.ask(this.secondUrl('postgres'), 'SELECT pg_promote()');
  }

  /** Stops the standby from receiving anything more, as a network that is cut between the servers. */
  async cutReplication(): Promise<void> {
    const url = this.secondUrl('postgres');
    await this.ask(url, `ALTER SYSTEM SET primary_conninfo = ''`);
    await this.ask(url, 'SELECT pg_reload_conf()');
    await until(
      'nobody receives',
      async () => (await this.ask(url, 'SELECT 1 FROM pg_stat_wal_receiver')).length === 0,
    );
  }

  /** Returns the rows of one statement, on a new connection. */
  ask<Row extends QueryResultRow>(url: string, statement: string): Promise<readonly Row[]> {
    return rowsOf<Row>(url, statement);
  }

  /** Ends both, and drops all that they held. */
  async stop(): Promise<void> {
    await this.way.close();
    await Promise.all([this.first, this.second].map(async ({ running }) => running?.stop()));
    await rm(this.folder, { recursive: true, force: true });
  }

  private async ownFiles(): Promise<string> {
    await this.serve(this.first, {});
    await serverOf(this.first).stop();
    return this.first.folder;
  }

  private async begin(replication: Replication, files: string): Promise<void> {
    await this.way.listen();
    this.way.lead(this.first.port);
    for (const { folder } of [this.first, this.second]) if (folder !== files) copyFiles(files, folder);
    await writeFile(join(this.second.folder, 'data', 'standby.signal'), '', { mode: 0o644 });
    await this.serve(this.first, replication === 'synchronous' ? { synchronous_standby_names: STANDBY_NAME } : {});
    const { username, password } = new URL(this.firstUrl('postgres'));
    const source = `host=127.0.0.1 port=${this.first.port} user=${username} password=${password}`;
    await writeFile(
      join(this.second.folder, 'data', 'postgresql.auto.conf'),
      `primary_conninfo = '${source} application_name=${STANDBY_NAME}'\n`,
    );
    await this.serve(this.second, {});
    const followed = `SELECT 1 FROM pg_stat_replication WHERE application_name = '${STANDBY_NAME}' AND state = 'streaming'`;
    await until('the standby follows', async () => (await this.ask(this.firstUrl('postgres'), followed)).length > 0);
  }

  private async serve(member: Member, more: Readonly<Record<string, string>>): Promise<void> {
    const { startPostgres } = await import('../../scripts/lib/embedded-postgres.mjs');
    const { folder, port } = member;
    member.running = await startPostgres({ folder, port, more });
  }
}

/** Copies the files of a server that was shut down: they serve as a base for another server and for a standby; `-a` keeps their owner. */
function copyFiles(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the files of the primary could not be copied: ${stderr}`);
}

function serverOf({ running }: Member): EmbeddedPostgres {
  if (!running) throw new Error('the server has not been started');
  return running;
}
