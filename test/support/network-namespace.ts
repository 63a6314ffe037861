import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { NetworkFailure, withoutDemand, type NetworkTools } from '@causeway/agent/testing';

/** Whether network namespaces with packet filters can be made here: Linux, iproute2, nftables, and the right to. */
export const canFilter = works('unshare', '-n', 'nft', 'list', 'ruleset') && works('ip', '-V');

/** Output and exit code of a program in the namespace. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A network namespace with loopback only, as long as it is open. */
export class NetworkNamespace implements NetworkTools {
  private readonly programs = new Set<ChildProcess>();

  private constructor(private readonly keeper: ChildProcess) {}

  static async create(): Promise<NetworkNamespace> {
    const script = 'ip link set lo up && echo up && exec sleep infinity';
    const keeper = spawn('unshare', ['-n', 'sh', '-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(keeper.stdout, 'data');
    return new NetworkNamespace(keeper);
  }

  /** Lays a cable to the network of this process; the addresses as in `connect`. The cable is gone with the namespace, or with `cut`. */
  async connectHere(here: string, there: string): Promise<void> {
    const pid = String(this.keeper.pid);
    const host = (...args: readonly string[]): unknown => execFileSync('ip', args);
    host('link', 'add', this.cable, 'type', 'veth', 'peer', 'name', 'v0', 'netns', pid);
    host('addr', 'add', here, 'dev', this.cable);
    host('link', 'set', this.cable, 'addrgenmode', 'none', 'up');
    await this.run('ip', ['addr', 'add', there, 'dev', 'v0']);
    await this.run('ip', ['link', 'set', 'v0', 'addrgenmode', 'none', 'up']);
  }

  /** Takes the cable of `connectHere` away, without notice to either side. */
  cut(): void {
    execFileSync('ip', ['link', 'delete', this.cable]);
  }

  private get cable(): string {
    return `v${this.keeper.pid}`;
  }

  /** Lays a cable to another namespace; each end has an address of a network that both share, such as 10.7.1.1/24. */
  async connect(other: NetworkNamespace, here: string, there: string): Promise<void> {
    const name = `v${other.keeper.pid}`;
    const peer = ['peer', 'name', 'v0', 'netns', String(other.keeper.pid)];
    await this.run('ip', ['link', 'add', name, 'type', 'veth', ...peer]);
    for (const [end, link, address] of [[this, name, here] as const, [other, 'v0', there] as const]) {
      await end.run('ip', ['addr', 'add', address, 'dev', link]);
      // Link-local addresses come seconds later, and with them routes.
      await end.run('ip', ['link', 'set', link, 'addrgenmode', 'none', 'up']);
    }
  }

  /** Runs a program to its end; rejects as `systemTools` does. */
  async run(program: string, args: readonly string[], input = ''): Promise<string> {
    const { code, stdout, stderr } = await this.execute([program, ...args], input);
    if (code !== 0) throw new NetworkFailure(`${program} ${args.join(' ')} failed: ${stderr}`, stderr);
    return stdout;
  }

  /** Runs a command to its end. */
  async execute(command: readonly string[], input = ''): Promise<Ran> {
    const child = spawn('nsenter', [...this.enter, ...command], { stdio: 'pipe', timeout: 60_000 });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text));
    child.stdin.on('error', () => undefined).end(input);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, ...output };
  }

  /** Starts a program of Node that prints a line when it serves. */
  async serve(script: string, ...args: readonly string[]): Promise<ChildProcess> {
    const command = [process.execPath, '-e', script, ...args];
    const child = spawn('nsenter', [...this.enter, ...command], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.programs.add(child);
    const ended = once(child, 'exit').then(() => Promise.reject(new Error('the server has ended')));
    await Promise.race([once(child.stdout, 'data'), ended]);
    ended.catch(() => undefined);
    return child;
  }

  /** All rules and routes, as the programs print them, without the addresses that programs dialled. */
  async state(): Promise<string> {
    const routes = ['-4', '-6'].map((family) => `ip ${family} route show table all`);
    return withoutDemand(await this.run('sh', ['-c', ['nft list ruleset', ...routes].join(' && echo -- && ')]));
  }

  async close(): Promise<void> {
    for (const child of [...this.programs, this.keeper]) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }

  get enterCommand(): readonly string[] {
    return ['nsenter', ...this.enter];
  }

  /** Returns the words of `nsenter` that run a command in it. */
  get enter(): readonly string[] {
    return ['-t', String(this.keeper.pid), '-n'];
  }
}

function works(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}
