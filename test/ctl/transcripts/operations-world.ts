import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '../../../scripts/lib/ports.mjs';
import { AgentProcess } from '../../support/agent-process';
import { InstalledPostgres } from '../../support/installed-postgres';
import { loopbackBlock } from '../../support/loopback-networks';
import { rowsOf } from '../../support/postgres';
import { ProcessMesh } from '../../support/process-mesh';
import type { ProcessPlane } from '../../support/process-plane';
import { testRedisUrl } from '../../support/redis';
import { until } from '../../support/until';
import type { TranscriptWorld } from './transcript-page';
import { TranscriptShell } from './transcript-shell';

/** The file with the URL of a zone's database, as docs/guides/install.md has it. */
const URL_FILE = 'database-url';
/** Folder of Postgres and ports of its servers, as the pages name them. */
const POSTGRES_FOLDER = '/var/lib/postgresql';
const POSTGRES_PORTS = [5432, 5433, 5434] as const;
const SERVERS = ['main', 'base', 'new'] as const;

/** An address of loopback for the agent's host, and its name on the pages. */
const AGENT = loopbackBlock()(7);
const SHOWN_AGENT = '10.0.0.7';

/** Settings that the servers are made with which commands of a page copy. */
const COPIED_SETTINGS = ["listen_addresses = '127.0.0.1'", 'max_connections = 300'];

interface Machines {
  readonly mesh: ProcessMesh;
  readonly postgres: InstalledPostgres;
  readonly agent: AgentProcess;
}

/**
 * The machines of the pages about operations: a global, zone west, and zone east as docs/guides/install.md sets it up. Its store is on
 * a Postgres of the machine with an archive, its lock at a Redis, and the URL of its database in a file of the folder that commands run in. `systemctl`
 * is this class; all else are the programs themselves, those of Postgres as its account.
 */
export class OperationsWorld implements TranscriptWorld {
  private readonly mesh: ProcessMesh;
  private readonly postgres: InstalledPostgres;
  private readonly agent: AgentProcess;

  private constructor(
    { mesh, postgres, agent }: Machines,
    readonly shell: TranscriptShell,
    private readonly ports: Readonly<Record<string, string>>,
  ) {
    this.mesh = mesh;
    this.postgres = postgres;
    this.agent = agent;
  }

  static async start(): Promise<OperationsWorld> {
    const postgres = await InstalledPostgres.create();
    const ports = await portsOfEast();
    const [main, mesh] = await Promise.all([postgres.serve('main', archiving(postgres)), ProcessMesh.start(['west'])]);
    const owner = new URL(main.url('causeway_east'));
    const [password, administrator] = ['of-east', new URL(main.url('postgres'))];
    const sockets = `unix_socket_directories = '${await postgres.ownFolder('sockets')}'`;
    for (const setting of [...COPIED_SETTINGS, sockets])
      await rowsOf(main.url('postgres'), `ALTER SYSTEM SET ${setting}`);
    await rowsOf(main.url('postgres'), `CREATE ROLE causeway_east LOGIN PASSWORD '${password}'`);
    await rowsOf(main.url('postgres'), 'CREATE DATABASE causeway_east OWNER causeway_east');
    [owner.username, owner.password] = ['causeway_east', password];
    const servers = [main.port, await freePort(), await freePort()];
    const meant = new Map([
      ...POSTGRES_PORTS.flatMap((shown, n): [string, string][] => [
        [`127.0.0.1:${shown}`, `127.0.0.1:${servers[n]}`],
        [`-p ${shown}`, `-p ${servers[n]}`],
      ]),
      ...SERVERS.map((name): [string, string] => [`${POSTGRES_FOLDER}/15/${name}`, postgres.files(name)]),
      [POSTGRES_FOLDER, postgres.folder],
      ['http://127.0.0.1:5681', mesh.global.restUrl],
      ['http://127.0.0.1:5680', mesh.global.diagnosticsUrl],
      ['http://127.0.0.1:7681', mesh.zone('west').restUrl],
      ['http://127.0.0.1:6681', `http://127.0.0.1:${ports['CAUSEWAY_REST_PORT']}`],
      ['http://127.0.0.1:6680', `http://127.0.0.1:${ports['CAUSEWAY_DIAGNOSTICS_PORT']}`],
      ['-p 6653', `-p ${ports['CAUSEWAY_DNS_PORT']}`],
      ['redis://127.0.0.1:6379', testRedisUrl() ?? ''],
    ]);
    const shown = new Map([
      ...[...meant].map(([named, here]): [string, string] => [here, named]),
      [AGENT, SHOWN_AGENT],
      [hostname(), 'cp'],
    ]);
    const shell = new TranscriptShell(shown, {
      meant,
      commands: await postgresCommands(postgres),
      env: { ...administratorOf(administrator), CAUSEWAY_AGENT_STATE: join(postgres.folder, 'agent', 'state') },
    });
    chmodSync(dirname(shell.folder), 0o755); // Postgres' account enters it
    writeFileSync(join(shell.folder, URL_FILE), `${owner.href}\n`, { mode: 0o600 });
    const agent = new AgentProcess(join(postgres.folder, 'agent'), {});
    const world = new OperationsWorld({ mesh, postgres, agent }, shell, ports);
    await world.startEast();
    await Promise.all([world.register('redis', 'cache'), world.startAgent()]);
    return world;
  }

  serverOf(name: string): string {
    if (name === 'east') return `http://127.0.0.1:${this.ports['CAUSEWAY_REST_PORT']}`;
    return (name === 'global' ? this.mesh.global : this.mesh.zone(name)).restUrl;
  }

  perform(command: string): Promise<string> | undefined {
    const [, verb] = /^systemctl (stop|start|restart) causeway-zone$/.exec(command) ?? [];
    return verb === undefined ? undefined : this.systemctl(verb);
  }

  async close(): Promise<void> {
    await this.agent.end();
    await this.mesh.stop();
    // Servers that commands of the page have started.
    for (const name of SERVERS)
      await this.postgres.run('pg_ctl', '-D', this.postgres.files(name), '-m', 'immediate', 'stop').catch(() => '');
    await this.postgres.stop();
    await this.shell.close();
  }

  private async systemctl(verb: string): Promise<string> {
    if (verb !== 'start') await this.mesh.zone('east').stop();
    if (verb !== 'stop') await this.startEast();
    return '';
  }

  private async startEast(): Promise<void> {
    const DATABASE_URL = readFileSync(join(this.shell.folder, URL_FILE), 'utf8').trim();
    const REDIS_URL = testRedisUrl();
    await this.mesh.startZone('east', { ...this.ports, DATABASE_URL, ...(REDIS_URL ? { REDIS_URL } : {}) });
  }

  private async startAgent(): Promise<void> {
    const bundle = join(this.agent.folder, 'bundle');
    const xds = `127.0.0.1:${this.ports['CAUSEWAY_XDS_PORT']}`;
    await this.shell.run(
      `causeway tokens dataplane web-1 --service web --bundle --xds ${xds} > ${bundle}`,
      this.serverOf('east'),
    );
    const services = [{ name: 'web', port: 8080, servicePort: await freePort() }];
    const dataplanes = [{ name: 'web-1', address: AGENT, services }];
    this.agent.write({ bundle, plane: 'builtin', capture: 'none', dataplanes });
    await this.agent.start();
  }

  /** Registers an instance of each in east, and waits until both zones have an address for them and for the agent's service. */
  private async register(...services: readonly string[]): Promise<void> {
    const [east, west] = [this.mesh.zone('east'), this.mesh.zone('west')];
    for (const [n, name] of services.entries()) {
      const inbound = [{ port: 8080, tags: { 'kuma.io/service': name, 'kuma.io/protocol': 'tcp' } }];
      const spec = { networking: { address: `10.0.0.${n + 1}`, inbound } };
      await east.put(`/meshes/default/dataplanes/${name}-1`, {
        type: 'Dataplane',
        mesh: 'default',
        name: `${name}-1`,
        spec,
      });
    }
    for (const name of [...services, 'web'])
      for (const zone of [east, west])
        await until(`${zone.name} has an address for ${name}`, () => hasAddress(zone, name));
  }
}

async function hasAddress(zone: ProcessPlane, name: string): Promise<boolean> {
  const { status } = (await zone.get(`/meshes/default/meshservices/${name}?zone=east`)) ?? {};
  return JSON.stringify(status ?? {}).includes('"ip"');
}

async function portsOfEast(): Promise<Readonly<Record<string, string>>> {
  const names = ['CAUSEWAY_REST_PORT', 'CAUSEWAY_DIAGNOSTICS_PORT', 'CAUSEWAY_DNS_PORT', 'CAUSEWAY_XDS_PORT'];
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, String(await freePort())])));
}

function archiving({ folder }: InstalledPostgres): Readonly<Record<string, string>> {
  return { wal_level: 'replica', archive_mode: 'on', archive_command: `cp %p ${folder}/wal/%f` };
}

/** The programs of Postgres; those that work on its files are run as the account that its servers run as. */
async function postgresCommands(postgres: InstalledPostgres): Promise<Readonly<Record<string, string>>> {
  for (const folder of ['wal', 'base', 'new']) await postgres.ownFolder(folder);
  const as = postgres.account;
  const before = as ? `setpriv --reuid=${as.uid} --regid=${as.gid} --clear-groups ` : '';
  const ours = ['createdb', 'pg_dump', 'pg_restore', 'psql'].map((name) => [name, join(postgres.programs, name)]);
  const its = ['pg_basebackup', 'pg_ctl'].map((name) => [name, `${before}${join(postgres.programs, name)}`]);
  return Object.fromEntries([...ours, ...its]);
}

function administratorOf({ hostname: host, port, username, password }: URL): Readonly<Record<string, string>> {
  return { PGHOST: host, PGPORT: port, PGUSER: username, PGPASSWORD: password, PGDATABASE: 'postgres' };
}
