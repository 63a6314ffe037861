import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { EmbeddedPostgres } from '../../scripts/lib/embedded-postgres.mjs';
import { describeWith } from '../dns/programs';

/** Folder in which Debian installs each version of Postgres. */
const VERSIONS = '/usr/lib/postgresql';

/** Folder of the programs of the newest Postgres of the host, with pg_dump and pg_basebackup; undefined if there is none. */
const POSTGRES_PROGRAMS: string | undefined = (existsSync(VERSIONS) ? readdirSync(VERSIONS) : [])
  .sort((a, b) => Number(b) - Number(a))
  .map((version) => join(VERSIONS, version, 'bin'))
  .find((folder) => ['postgres', 'pg_dump', 'pg_basebackup'].every((program) => existsSync(join(folder, program))));

/** `describe` if the host has a Postgres of its own: the embedded one has no pg_dump and no pg_basebackup. */
export function describeWithPostgresPrograms(name: string, tests: () => void): void {
  const there = POSTGRES_PROGRAMS !== undefined;
  describeWith("Postgres' own programs", there, 'apt-get install postgresql')(name, tests);
}

/** Servers of the machine's Postgres in a folder of their own, and its programs, run as the account that owns their files. */
export class InstalledPostgres {
  private readonly servers = new Map<string, EmbeddedPostgres>();
  private owner: { readonly uid: number; readonly gid: number } | undefined;

  private constructor(
    readonly folder: string,
    readonly programs: string,
  ) {}

  static async create(): Promise<InstalledPostgres> {
    if (POSTGRES_PROGRAMS === undefined) throw new Error('this machine has no Postgres: apt-get install postgresql');
    const folder = await mkdtemp(join(tmpdir(), 'causeway-postgres-'));
    await chmod(folder, 0o755); // Postgres may run as another user
    return new InstalledPostgres(folder, POSTGRES_PROGRAMS);
  }

  /** Starts a server of this name: on the files that it has, or on new ones. */
  async serve(name: string, more: Readonly<Record<string, string>> = {}): Promise<EmbeddedPostgres> {
    const { startPostgres } = await import('../../scripts/lib/embedded-postgres.mjs');
    const { freePort } = await import('../../scripts/lib/ports.mjs');
    const { folder, programs } = this;
    const port = this.servers.get(name)?.port ?? (await freePort());
    const server = await startPostgres({ folder: join(folder, name), port, programs, more });
    this.servers.set(name, server);
    this.owner ??= await stat(this.files(name));
    return server;
  }

  /** The account that servers run as, if it is not ours. */
  get account(): { readonly uid: number; readonly gid: number } | undefined {
    return process.getuid?.() === 0 && this.owner ? { uid: this.owner.uid, gid: this.owner.gid } : undefined;
  }

  /** Returns the folder of a server's files. */
  files(name: string): string {
    return join(this.folder, name, 'data');
  }

  /** Makes a folder that Postgres may write to; gives its path. */
  async ownFolder(name: string): Promise<string> {
    const path = join(this.folder, name);
    await mkdir(path);
    if (this.owner) await chown(path, this.owner.uid, this.owner.gid);
    return path;
  }

  /** Writes a file among those of a server that does not run. */
  async writeFile(server: string, name: string, content: string): Promise<void> {
    const path = join(this.files(server), name);
    await writeFile(path, content, { mode: 0o600 });
    if (this.owner) await chown(path, this.owner.uid, this.owner.gid);
  }

  /** Runs one of Postgres' programs to its end; if it fails, rejects with its output. */
  async run(program: string, ...args: readonly string[]): Promise<string> {
    const account = process.getuid?.() === 0 && this.owner ? { uid: this.owner.uid, gid: this.owner.gid } : {};
    const child = spawn(join(this.programs, program), args, {
      ...account,
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    if (code !== 0) throw new Error(`${program} ended with ${code}: ${err}`);
    return out;
  }

  /** Ends all servers, and drops all that they held. */
  async stop(): Promise<void> {
    await Promise.all([...this.servers.values()].map((server) => server.stop()));
    await rm(this.folder, { recursive: true, force: true });
  }
}
