/*
 * What must hold, and where else it is tested:
 * * Rules or routes of the agent that somebody flushed are back within two seconds, also where no program reports it:
 *   `nft monitor` and `ip monitor` are killed. Also: test/agent/redirect.spec.ts, test/agent/direct.spec.ts.
 * * An agent with nothing installed runs no program, and none is left of those that it ran.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LastingProgram, MachineNetwork, type NetworkPlan, type NetworkTools } from '@causeway/agent/testing';
import { silentLogger, systemClock } from '@causeway/runtime';
import { canFilter, NetworkNamespace } from '../support/network-namespace';
import { until } from '../support/until';

const AGENT = '0b1c2d3e-0000-4000-8000-000000000001';
/** Listens at each address: rules and routes. */
const PLAN: NetworkPlan = { capture: { type: 'listen', ranges: ['241.0.0.0/8', 'fd00:fd::/64'] } };
/** Time in which rules and routes are back, and that of a busy machine, ms. */
const BACK = 2_000;
const SLACK = 3_000;
/** Until programs report changes, ms. */
const READY = 1_500;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Processes whose parent is another process. */
function childrenOf(parent: number): readonly number[] {
  return execFileSync('ps', ['-e', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid = 0, ppid]) => (ppid === parent ? [pid] : []));
}

/** The monitors that this process runs: each below a shell. */
function monitors(): readonly number[] {
  const commandOf = (pid: number): string => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch {
      return '';
    }
  };
  return childrenOf(process.pid)
    .flatMap((shell) => childrenOf(shell))
    .filter((pid) => /(nft|ip)\0monitor/.test(commandOf(pid)));
}

(canFilter ? describe : describe.skip)('rules and routes that somebody removes', () => {
  let namespace: NetworkNamespace;
  let folder: string;
  let network: MachineNetwork;
  let end: AbortController;
  let watching: Promise<void>;
  /** How often programs were run to check. */
  let runs = 0;
  /** Called after each program that the agent runs. */
  let afterRun: (program: string, args: readonly string[]) => Promise<unknown>;

  beforeAll(async () => (namespace = await NetworkNamespace.create()));
  afterAll(() => namespace.close());
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'causeway-monitors-'));
    afterRun = () => Promise.resolve();
    const { enterCommand } = namespace;
    const tools: NetworkTools = {
      enterCommand,
      run: async (...args) => {
        runs += 1;
        const output = await namespace.run(...args);
        await afterRun(args[0], args[1]);
        return output;
      },
    };
    network = new MachineNetwork({ folder, instance: AGENT, tools });
    end = new AbortController();
    watching = network.watch(systemClock, silentLogger, () => undefined, end.signal);
  });
  afterEach(async () => {
    end.abort();
    await watching;
    await network.remove();
    rmSync(folder, { recursive: true });
    await until('no monitor is left', () => monitors().length === 0);
  });

  const flushRules = (): Promise<unknown> => namespace.run('nft', ['flush', 'ruleset']);
  const flushRoutes = (): Promise<unknown> =>
    namespace.run('sh', [
      '-c',
      'ip -4 route flush table local 241.0.0.0/8; ip -6 route flush table local fd00:fd::/64',
    ]);

  it.each([
    ['rules', flushRules],
    ['routes', flushRoutes],
  ])('%s are back soon, and at rest no program is started', async (_, flush) => {
    await network.apply(PLAN);
    const whole = await namespace.state();
    await until('both monitors run', () => monitors().length === 2);
    await pause(READY + 2_000);
    runs = 0;
    await pause(BACK + 1_000);
    expect(runs).toBe(0);
    await flush();
    expect(await namespace.state()).not.toBe(whole);
    await until('all is back', async () => (await namespace.state()) === whole, BACK + SLACK);
    await until('it is counted', () => network.status.restored === 1);
  });

  it('are back as soon where the event is lost: the monitors are killed at that moment', async () => {
    await network.apply(PLAN);
    const whole = await namespace.state();
    await until('both monitors run', () => monitors().length === 2);
    await pause(READY);
    const killed = monitors();
    for (const pid of killed) process.kill(pid, 'SIGKILL');
    await flushRules();
    await flushRoutes();
    await until('all is back', async () => (await namespace.state()) === whole, BACK + SLACK);
    await until('monitors run again', () => monitors().filter((pid) => !killed.includes(pid)).length === 2);
  });

  it.each([
    ['put back', true],
    ['installed first', false],
  ])('are back where somebody removes them while they are %s, before it has read them', async (_, isRestore) => {
    await network.apply(PLAN);
    const whole = await namespace.state();
    if (!isRestore) await network.apply({});
    let isRemoved = false;
    afterRun = async (program, args) => {
      if (isRemoved || program !== 'ip' || !args.includes('-6') || !args.includes('-batch')) return;
      isRemoved = true;
      await flushRoutes();
      await flushRules();
    };
    if (isRestore) await flushRules().then(flushRoutes);
    else await network.apply(PLAN);
    await until('they are removed', () => isRemoved, BACK + SLACK);
    await until('all is back', async () => (await namespace.state()) === whole, BACK + SLACK);
  });

  it('needs no program where nothing is installed', async () => {
    await pause(READY);
    expect(monitors()).toEqual([]);
    await network.apply(PLAN);
    await until('both monitors run', () => monitors().length === 2);
    await network.apply({});
    await until('no monitor runs', () => monitors().length === 0);
  });
});

describe('a program that lasts', () => {
  it('is polled for where it does not run, ends with its user, and starts again', async () => {
    let events = 0;
    const start = (...command: readonly string[]): LastingProgram =>
      new LastingProgram({
        command,
        isEvent: (line) => line === 'event',
        onEvent: () => (events += 1),
        clock: systemClock,
      });
    const missing = start('no-such-program-of-causeway');
    await until('its absence is noticed', () => events > 0);
    await pause(READY);
    expect(missing.isRunning).toBe(false);
    missing.close();
    const lasting = start('sh', '-c', 'echo other; sleep 2; echo event; exec sleep 600');
    await until('it runs', () => lasting.isRunning);
    events = 0;
    await until('its event is noticed', () => events === 1);
    const shell = lasting.pid ?? 0;
    const [program = 0] = childrenOf(shell);
    process.kill(program, 'SIGKILL');
    await until('its end is noticed', () => !lasting.isRunning && events > 1);
    await until('it runs again', () => lasting.isRunning);
    const [again = 0] = childrenOf(lasting.pid ?? 0);
    lasting.close();
    await until('it has ended', () => !existsSync(`/proc/${again}`));
  });
});
