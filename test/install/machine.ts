import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/until';

/** Result of a command in the machine: both output streams together, and the exit code. */
export interface Said {
  readonly code: number | null;
  readonly output: string;
}

/** Of the machine: one of the range that documentation is free to use. */
const ADDRESS = '192.0.2.7/24';
/** The environment of a login of root. */
const LOGIN = [
  'env',
  '-i',
  'HOME=/root',
  'USER=root',
  'LANG=C.UTF-8',
  'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
];

/**
 * A bare Debian machine as long as it is open: a tree whose systemd is process 1 of namespaces of its own (`boot.sh`). It needs root
 * and Linux with overlayfs and version 2 of control groups.
 */
export class Machine {
  private constructor(
    private readonly boot: ChildProcess,
    /** Its first process, by the number that it has here. */
    private readonly pid: number,
    private readonly layer: string,
    private readonly group: string,
  ) {}

  /**
   * Boots a machine of a tree of `tree.sh`, or of several with colons between them, with a file in the home of root. Resolves when systemd has
   * started what it starts.
   */
  static async start(tree: string, file = ''): Promise<Machine> {
    const layer = mkdtempSync(join(tmpdir(), 'causeway-machine-'));
    const group = join(cgroups(), `causeway-machine-${process.pid}`);
    mkdirSync(group);
    const script = `echo 0 >"${join(group, 'cgroup.procs')}" && exec setpriv --pdeathsig KILL unshare --mount --pid --net --uts --ipc --cgroup --fork --kill-child sh "$@"`;
    const boot = spawn('sh', ['-c', script, 'sh', join(__dirname, 'boot.sh'), tree, layer, ADDRESS, file], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const pid = await until('the first process of the machine', () => {
      if (boot.exitCode !== null) throw new Error('the machine did not boot');
      const [child] = readFileSync(`/proc/${boot.pid}/task/${boot.pid}/children`, 'utf8').split(' ');
      return child !== undefined && child !== '' && isSystemd(child) ? Number(child) : false;
    });
    const machine = new Machine(boot, pid, layer, group);
    // Some units of a machine fail in namespaces (modules of the kernel, the console): `degraded`.
    await until('systemd of the machine', async () => {
      const { output } = await machine.run('systemctl is-system-running', 'own network', () => undefined);
      return /^(running|degraded)/m.test(output);
    });
    return machine;
  }

  /**
   * Runs a script as root, in the home of root, until its first command that fails. `outside` gives it the network of this
   * process: what packages are fetched with.
   */
  async run(script: string, network: 'own network' | 'outside', hear: (text: string) => void): Promise<Said> {
    const namespaces = network === 'outside' ? ['-m', '-u', '-i', '-p', '-C'] : ['-a'];
    const command = ['-t', String(this.pid), ...namespaces, '--wdns=/root', ...LOGIN, 'sh', '-eu'];
    const child = spawn('nsenter', command, { stdio: 'pipe' });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-64_000);
        hear(text);
      });
    child.stdin.on('error', () => undefined).end(script);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, output };
  }

  /** The command that opens a shell in it. */
  get entrance(): string {
    return `nsenter -t ${this.pid} -a ${LOGIN.join(' ')} bash`;
  }

  /** Ends every process of the machine and removes its files. */
  async close(): Promise<void> {
    if (this.boot.exitCode === null && this.boot.signalCode === null) {
      this.boot.kill('SIGKILL');
      await once(this.boot, 'exit');
    }
    // Processes of a namespace are gone a moment after the first one.
    await until('the control groups of the machine are empty', () =>
      /^populated 0$/m.test(readFileSync(join(this.group, 'cgroup.events'), 'utf8')),
    );
    spawnSync('find', [this.group, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';']);
    rmSync(this.layer, { recursive: true, force: true });
  }
}

function isSystemd(pid: string): boolean {
  return readFileSync(`/proc/${pid}/comm`, 'utf8') === 'systemd\n';
}

/** Returns the folder where version 2 of control groups is mounted here. */
function cgroups(): string {
  const [, path] = /^\S+ (\S+) cgroup2 /m.exec(readFileSync('/proc/self/mounts', 'utf8')) ?? [];
  if (path === undefined) throw new Error('version 2 of control groups is not mounted: the machine needs it');
  return path;
}
