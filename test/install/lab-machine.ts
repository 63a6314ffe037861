import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { until } from '../support/until';
import { Machine } from './machine';

export const ROOT = resolve(__dirname, '..', '..');
/** Folders of the machine. */
const [PACKAGE, LAB, POSTGRES, UNITS] = [
  'usr/local/lib/node_modules/causeway',
  'opt/lab',
  'opt/postgres',
  'etc/systemd/system',
];
const COMMANDS = ['causeway', 'causeway-zone', 'causeway-agent'];
/** Units that the shutdown of a machine does not end: they show what it leaves. */
const LASTS = '-p DefaultDependencies=no -p LimitNOFILE=65536';
const ADDRESS = '192.0.2.7';

/** Counts of the probe of the machine (`programs/probe.mjs`). */
export interface ProbeCounts {
  readonly attempts: number;
  readonly failures: number;
  /** Failures since the last success. */
  readonly failing: number;
  readonly firstFailure: number;
  readonly lastFailure: number;
  /** Held connections that broke, and those that are open. */
  readonly broken: number;
  readonly open: number;
  /** Answers on held connections. */
  readonly answered: number;
  /** Times that the zone did not have the Dataplane. */
  readonly absent: number;
  readonly reasons: Readonly<Record<string, number>>;
  /** Absent while no agent answers. */
  readonly agent?: { readonly pid: number; readonly lease?: string; readonly plane?: string };
}

export interface LabOptions {
  /** Path of Envoy on this host; undefined: the builtin plane. */
  readonly envoy: string | undefined;
  /** Suite of Debian. */
  readonly suite: string;
  /** The units that it has. */
  readonly units: string;
}

/**
 * A machine with a zone, a service and its agent, and a client that probes the service by its virtual IP. The programs come from `dist/package`, Node,
 * Postgres and Envoy from this host.
 */
export class LabMachine {
  private constructor(
    readonly machine: Machine,
    private readonly layer: string,
  ) {}

  static async start(options: LabOptions): Promise<LabMachine> {
    const layer = await layPrograms(options);
    try {
      const tree = execFileSync('sh', [join(__dirname, 'tree.sh'), options.suite, 'nftables'], { encoding: 'utf8' });
      const machine = await Machine.start(`${layer}:${tree.trim()}`);
      const lab = new LabMachine(machine, layer);
      try {
        await lab.install();
        return lab;
      } catch (error) {
        await machine.run('journalctl --no-pager -n 60', 'own network', (text) => process.stdout.write(text));
        await lab.close();
        throw error;
      }
    } catch (error) {
      rmSync(layer, { recursive: true, force: true });
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.machine.close();
    rmSync(this.layer, { recursive: true, force: true });
  }

  /** Runs a script as root in the machine and returns its output. Rejects if it fails. */
  async run(script: string): Promise<string> {
    const { code, output } = await this.machine.run(script, 'own network', () => undefined);
    if (code !== 0) throw new Error(`exit code ${code}: ${script}\n${output}`);
    return output.trim();
  }

  /** As `run`; an exit code of its last command that is not 0 is an answer. */
  async ask(script: string): Promise<string> {
    const { output } = await this.machine.run(script, 'own network', () => undefined);
    return output.trim();
  }

  /** Returns a property of the agent's unit. */
  unit(property: string): Promise<string> {
    return this.run(`systemctl show --value -p ${property} causeway-agent`);
  }

  /** Returns the process id of the agent, in the machine. */
  async agentPid(): Promise<number> {
    return Number(await this.unit('MainPID'));
  }

  /** Returns the process ids of all Envoys of the machine, in the machine. */
  async envoyPids(): Promise<readonly number[]> {
    const found = await this.ask("for f in /proc/[0-9]*/comm; do grep -qs '^envoy' $f && echo $f; done; true");
    return [...found.matchAll(/^\/proc\/(\d+)\/comm$/gm)].map(([, pid]) => Number(pid));
  }

  /** Begins to count anew. */
  async resetProbe(): Promise<void> {
    await this.run('systemctl kill -s USR2 probe; sleep 0.2');
  }

  async probe(): Promise<ProbeCounts> {
    return JSON.parse(await this.run('cat /run/probe.json')) as ProbeCounts;
  }

  /** Resolves when the agent of a machine has its lease, its proxy serves, and new connections succeed. */
  async untilServing(former = 0): Promise<void> {
    await until('the agent serves', async () => {
      const { agent } = await this.probe();
      return agent && agent.pid !== former && agent.lease === 'held' && agent.plane === 'serving';
    });
    const { attempts } = await this.probe();
    await until('requests succeed', async () => {
      const now = await this.probe();
      return now.attempts > attempts + 3 && now.failing === 0 && now.open === 4;
    });
  }

  /** Starts Postgres, the zone, the service, its agent and the probe. */
  private async install(): Promise<void> {
    await this.run(STARTS_ZONE);
    await this.run(
      `${CAUSEWAY} tokens dataplane hello-1 --service hello --bundle --xds localhost:5678 >/etc/causeway/bundle\n` +
        'systemctl enable --quiet causeway-agent && systemctl start causeway-agent',
    );
    const address = await until('the service has a virtual IP', async () => {
      const service = await this.ask(`${CAUSEWAY} get meshservice hello -o json`);
      return /"ip": ?"([0-9.]+)"/.exec(service)?.[1];
    });
    await this.run(
      `systemd-run --quiet --unit probe ${LASTS} node /${LAB}/probe.mjs ${address} 8080 /run/zone/admin.sock /run/probe.json\n` +
        'until [ -e /run/probe.json ]; do sleep 0.1; done',
    );
    await this.untilServing();
  }
}

export const CAUSEWAY = 'causeway --server unix:/run/zone/admin.sock';

const ZONE_SETTINGS = {
  DATABASE_URL: 'postgres://causeway@127.0.0.1:5432/postgres',
  CAUSEWAY_ZONE_NAME: 'east',
  CAUSEWAY_ADMIN_SOCKET: '/run/zone/admin.sock',
  CAUSEWAY_LEADER_BACKEND: 'postgres',
};

const STARTS_ZONE = `
install -d -m 755 /etc/causeway && install -d -m 700 /run/zone && install -d -o nobody /var/lib/postgres
setpriv --reuid nobody --clear-groups /${POSTGRES}/bin/initdb -D /var/lib/postgres/data -U causeway -A trust --no-sync >/dev/null
systemd-run --quiet --unit postgres ${LASTS} -p User=nobody /${POSTGRES}/bin/postgres -D /var/lib/postgres/data \\
  -c fsync=off -c listen_addresses=127.0.0.1 -c unix_socket_directories=
systemd-run --quiet --unit zone ${LASTS} -p Restart=always -p RestartSec=200ms \\
  ${Object.entries(ZONE_SETTINGS)
    .map(([name, value]) => `-E ${name}=${value}`)
    .join(' ')} causeway-zone
systemd-run --quiet --unit hello ${LASTS} node /${LAB}/echo-service.mjs 8000
cat >/etc/causeway/agent.yaml <<'END'
bundle: /etc/causeway/bundle
capture: redirect
drainTime: 2s
dataplanes:
  - name: hello-1
    address: ${ADDRESS}
    services:
      - {name: hello, port: 8080, servicePort: 8000, protocol: tcp, health: {tcp: {}}}
dns: {port: 5300}
END
until [ -S /run/zone/admin.sock ] && ${CAUSEWAY} get meshes >/dev/null 2>&1; do sleep 0.2; done
`;

/** Lays the programs of the machine into a folder that goes above its tree. */
async function layPrograms({ envoy, units }: LabOptions): Promise<string> {
  const { postgresBinaries } = await import('../../scripts/lib/postgres-binaries.mjs');
  execFileSync(process.execPath, ['scripts/package.mjs'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  const layer = mkdtempSync(join(tmpdir(), 'causeway-lab-'));
  chmodSync(layer, 0o755);
  const lay = (from: string, to: string): void => {
    mkdirSync(dirname(join(layer, to)), { recursive: true });
    cpSync(from, join(layer, to), { recursive: true, verbatimSymlinks: true });
  };
  lay(join(ROOT, 'dist', 'package'), PACKAGE);
  lay(dirname(postgresBinaries(undefined, tmpdir())), POSTGRES);
  lay(join(__dirname, 'programs'), LAB);
  lay(units, UNITS);
  mkdirSync(join(layer, 'usr/local/bin'), { recursive: true });
  copyFileSync(process.execPath, join(layer, 'usr/local/bin/node'));
  if (envoy !== undefined) copyFileSync(envoy, join(layer, 'usr/local/bin/envoy'));
  for (const command of COMMANDS)
    symlinkSync(`../lib/node_modules/causeway/bin/${command}`, join(layer, 'usr/local/bin', command));
  writeFileSync(join(layer, 'etc/hosts'), '127.0.0.1 localhost\n::1 localhost\n');
  return layer;
}
