import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, WakeableSleep, type Clock, type Logger } from '@causeway/runtime';
import { DIRECT_TABLE } from './service-maps';
import { formatAbsent, withoutDemand } from './demand-rules';
import type { LocalAddress } from './local-address';
import { NetworkMonitors } from './network-monitors';
import { NetworkFailure, systemTools, type NetworkTools } from './network-tools';
import {
  CAPTURE_TABLE,
  ROUTE_PROTOCOL,
  listCaptureRoutes,
  renderRuleset,
  type NetworkCapture,
  type CaptureRoute,
  type NetworkPlan,
} from './ruleset';

export interface MachineNetworkOptions {
  /** The state folder. */
  readonly folder: string;
  /** Id of the agent, kept across restarts (`readAgentInstance`). Rules of other agents are not touched. */
  readonly instance: string;
  readonly tools?: NetworkTools;
  /** Called with an address of the captured ranges that a program dialled while nothing listened there. */
  readonly onUnboundAddress?: (at: LocalAddress) => void;
}

/** Rules and routes that the agent installed on its machine, for status. */
export interface NetworkStatus {
  /** Capture of connections to virtual IPs, and its ranges; absent if nothing is captured. */
  readonly capture?: { readonly type: NetworkCapture['type']; readonly ranges: readonly string[] };
  /** Ports that only the proxy reaches. */
  readonly guarded: readonly number[];
  /** Why rules and routes are not installed; absent if they are. */
  readonly problem?: string;
  /** Number of times that removed or changed rules or routes were restored. */
  readonly restored: number;
  /** Time of the last restoration, ms since 1970. */
  readonly restoredAt?: number;
}

/** Rules and routes as the kernel shows them. */
interface InstalledText {
  readonly rules: string;
  readonly routes: string;
}

/** Rules and routes as the kernel shows those of a ruleset that nobody has changed. */
interface ExpectedText extends InstalledText {
  readonly ruleset: string;
}

/** File in the state folder whose presence means that rules of this agent may be installed. */
const MARKER_FILE = 'network-rules';
const TABLES = [DIRECT_TABLE, CAPTURE_TABLE];
/** Interval at which rules and routes are checked while nothing reports their changes, ms, and while something does. */
const [POLL_INTERVAL, RESYNC_INTERVAL] = [2_000, 30_000];
/** Time for which changes gather before rules and routes are checked, and minimum time between two checks, ms. */
const [GATHER_TIME, MIN_INTERVAL] = [100, 1_000];
/** The interval while they cannot be restored, ms. */
const RETRY_INTERVAL = 15_000;
const OWNER = /comment "causeway-agent ([^"\s]+)"/;

/**
 * Rules and routes of one agent in its network namespace: its own nftables table, and routes with its own protocol
 * number. Nothing else is changed. Leftovers of a killed agent are removed by the next run with the same state folder.
 */
export class MachineNetwork {
  readonly tools: NetworkTools;
  private plan: NetworkPlan = {};
  /** Rules and routes found by the last check. */
  private enforced: NetworkPlan = {};
  private ruleset: string | undefined;
  private routes: readonly CaptureRoute[] = [];
  /** Rules and routes as the kernel showed them when the ruleset was first installed; undefined if they were not complete then. */
  private expected: ExpectedText | undefined;
  /** A difference was noticed and is not yet restored. */
  private isLost = false;
  private problem: string | undefined;
  private restored: Pick<NetworkStatus, 'restored' | 'restoredAt'> = { restored: 0 };
  private checkedAt = -Infinity;
  /** Ends the wait for the next check. */
  private wake = (): void => undefined;
  /** Changes run one after the other. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: MachineNetworkOptions) {
    this.tools = options.tools ?? systemTools;
  }

  /**
   * Installs a plan, whatever an earlier run has left; does nothing if it is installed. Rejects, and removes its own
   * rules, if permission or a program is missing, another agent owns the table, or a foreign route to a range exists.
   */
  apply(plan: NetworkPlan): Promise<void> {
    return this.enqueue(() => this.applyPlan(plan));
  }

  /**
   * Returns whether a rule in force admits only the proxy to this port; also while a flushed rule is being restored.
   */
  guards(port: number): boolean {
    return this.enforced.guard?.ports.includes(port) === true;
  }

  /** Refuses connections to addresses that no service has, for a few seconds. Without the rules of `listen` it has no effect. */
  refuseAbsent(addresses: readonly LocalAddress[]): Promise<void> {
    return this.enqueue(async () => {
      if (this.enforced.capture?.type !== 'listen') return;
      await this.tools.run('nft', ['-f', '-'], formatAbsent(addresses, CAPTURE_TABLE)).catch(() => '');
    });
  }

  get status(): NetworkStatus {
    const { problem, restored } = this;
    const { capture, guard } = this.plan;
    const ports = [...new Set(guard?.ports)].sort((a, b) => a - b);
    return {
      ...(capture && { capture: { type: capture.type, ranges: capture.ranges } }),
      guarded: ports,
      ...restored,
      ...(problem !== undefined && { problem }),
    };
  }

  /**
   * Checks rules and routes until `signal` aborts, when the kernel reports a change of theirs and every half minute; every two seconds while no
   * program reports changes. Restores those that another program flushed or changed, counts and logs that. Calls `changed` when `guards` may return
   * another result. Resolves after the last check.
   */
  async watch(clock: Clock, logger: Logger, changed: () => void, signal: AbortSignal): Promise<void> {
    const sleep = new WakeableSleep(clock);
    this.wake = () => sleep.wake();
    const monitors = new NetworkMonitors({ ...this.options, clock, onEvent: this.wake });
    try {
      while (!signal.aborted) {
        const isInstalled = this.isCapturing;
        monitors.follow(this.plan, isInstalled);
        const resync = monitors.areRunning ? RESYNC_INTERVAL : POLL_INTERVAL;
        // Rules that fail to be restored change too.
        if (this.problem !== undefined) await clock.sleep(RETRY_INTERVAL, signal);
        else await sleep.sleep(isInstalled ? resync : Infinity, signal);
        const early = this.checkedAt + MIN_INTERVAL - clock.elapsed();
        if (this.isCapturing) await clock.sleep(Math.max(GATHER_TIME, early), signal);
        if (signal.aborted) return;
        await this.check(clock, logger, changed);
        this.checkedAt = clock.elapsed();
      }
    } finally {
      monitors.close();
    }
  }

  private async check(clock: Clock, logger: Logger, changed: () => void): Promise<void> {
    const before = this.problem;
    const isRestored = await this.enqueue(() => this.checkAndRestore()).catch(() => false);
    if (isRestored) {
      this.restored = { restored: this.restored.restored + 1, restoredAt: clock.now() };
      logger.warn('somebody has removed or changed rules or routes of the agent: they are put back', {
        times: this.restored.restored,
      });
    }
    if (this.problem === before && !isRestored) return;
    if (this.problem !== undefined && this.problem !== before)
      logger.error('rules or routes of the agent cannot be put back', { reason: this.problem });
    changed();
  }

  private get isCapturing(): boolean {
    return renderRuleset(this.plan, this.options.instance) !== undefined;
  }

  /** Removes all rules and routes, also those of a killed earlier run. Idempotent. */
  remove(): Promise<void> {
    return this.enqueue(() => this.applyPlan({}));
  }

  /** Records that a table of this agent will be created. Rejects if another agent owns it. */
  async claim(table: string): Promise<void> {
    const owner = await this.findOwner(table);
    if (owner !== undefined && owner !== this.options.instance)
      throw new Error(
        `the table inet ${table} is that of another agent of this machine (${owner}): end that one, or \`nft delete table inet ${table}\``,
      );
    await writeFile(join(this.options.folder, MARKER_FILE), `inet ${TABLES.join(' ')}\n`, { mode: 0o600 });
  }

  private async applyPlan(plan: NetworkPlan): Promise<void> {
    this.plan = plan;
    this.wake();
    try {
      await this.install(plan);
      this.problem = undefined;
      this.enforced = plan;
    } catch (error) {
      this.enforced = {};
      this.problem = errorText(error);
      throw error;
    }
  }

  /** Returns whether something was missing and is restored. Rejects if it cannot be restored. */
  private async checkAndRestore(): Promise<boolean> {
    if (!this.isCapturing) return false;
    if (this.ruleset !== undefined) {
      const shown = await this.readInstalled();
      if (this.isExpected(shown)) return false;
      this.ruleset = undefined;
      if (shown.routes !== this.expected?.routes) this.routes = [];
      this.isLost = true;
    }
    await this.applyPlan(this.plan);
    const wasLost = this.isLost;
    this.isLost = false;
    return wasLost;
  }

  /** Returns the installed rules and routes of the agent; empty if there are none. */
  private async readInstalled(): Promise<InstalledText> {
    const ours = ['route', 'show', 'table', 'all', 'proto', String(ROUTE_PROTOCOL)];
    const shown = (program: 'nft' | 'ip', args: readonly string[]): Promise<string> =>
      this.tools.run(program, args).catch(() => '');
    const [rules, ...routes] = await Promise.all([
      shown('nft', ['list', 'table', 'inet', CAPTURE_TABLE]),
      ...['-4', '-6'].map((family) => shown('ip', [family, ...ours])),
    ]);
    return { rules: withoutDemand(rules ?? ''), routes: routes.join('\n') };
  }

  private async install(plan: NetworkPlan): Promise<void> {
    const { instance } = this.options;
    const ruleset = renderRuleset(plan, instance);
    if (ruleset === undefined) return this.clearMarked();
    if (ruleset === this.ruleset) return;
    await this.claim(CAPTURE_TABLE);
    try {
      const left = plan.capture?.type === 'translate' ? '' : await this.deleteLeftover(DIRECT_TABLE);
      await this.tools.run('nft', ['-f', '-'], left + ruleset);
      this.ruleset = ruleset;
      await this.installRoutes(listCaptureRoutes(plan));
      await this.verify(ruleset);
    } catch (error) {
      // The first failure is reported.
      await this.clear().catch(() => undefined);
      throw error;
    }
  }

  /** Reads what was installed. Another program may have removed it again before it is read: then the next check comes soon. */
  private async verify(ruleset: string): Promise<void> {
    const shown = await this.readInstalled();
    const isComplete = shown.rules !== '' && countLines(shown.routes) >= this.routes.length;
    if (this.expected?.ruleset !== ruleset) this.expected = isComplete ? { ...shown, ruleset } : undefined;
    if (!this.isExpected(shown)) this.wake();
  }

  private isExpected({ rules, routes }: InstalledText): boolean {
    return rules === this.expected?.rules && routes === this.expected.routes;
  }

  /** Returns the command that deletes the table which an earlier run with another mode has left. */
  private async deleteLeftover(table: string): Promise<string> {
    const isOwn = (await this.findOwner(table)) === this.options.instance;
    return isOwn ? `delete table inet ${table}\n` : '';
  }

  private async installRoutes(routes: readonly CaptureRoute[]): Promise<void> {
    if (sameRoutes(routes, this.routes)) return;
    await this.flushRoutes();
    for (const family of ['-4', '-6'] as const) {
      const lines = routes.filter((route) => route.family === family).map(({ line }) => line);
      if (lines.length > 0) await this.addRoutes(family, lines);
    }
    this.routes = routes;
  }

  private async addRoutes(family: CaptureRoute['family'], lines: readonly string[]): Promise<void> {
    try {
      await this.tools.run('ip', [family, '-batch', '-'], `${lines.join('\n')}\n`);
    } catch (error) {
      if (!(error instanceof NetworkFailure) || !/File exists/.test(error.output)) throw error;
      const number = Number(/-:(\d+)/.exec(error.output)?.[1] ?? 1);
      throw new Error(`there is a route already where the agent needs one: ${lines[number - 1] ?? lines.join(', ')}`, {
        cause: error,
      });
    }
  }

  private async clearMarked(): Promise<void> {
    if (await this.isMarked()) await this.clear();
  }

  /** If the marker file exists, routes may exist even if all tables were flushed. */
  private async clear(): Promise<void> {
    const { instance, folder } = this.options;
    const owners = new Map<string, string | undefined>();
    for (const table of TABLES) owners.set(table, await this.findOwner(table));
    if ([instance, undefined].includes(owners.get(CAPTURE_TABLE))) await this.flushRoutes();
    const lines = TABLES.filter((table) => owners.get(table) === instance).map(
      (table) => `delete table inet ${table}\n`,
    );
    if (lines.length > 0) await this.tools.run('nft', ['-f', '-'], lines.join(''));
    [this.ruleset, this.routes] = [undefined, []];
    await rm(join(folder, MARKER_FILE), { force: true });
  }

  private async flushRoutes(): Promise<void> {
    for (const family of ['-4', '-6'])
      for (const table of ['main', 'local']) {
        const which = ['table', table, 'proto', String(ROUTE_PROTOCOL)];
        // A kernel without IPv6 has no such table.
        const found = await this.tools.run('ip', [family, 'route', 'show', ...which]).catch(() => '');
        if (found.trim() !== '') await this.tools.run('ip', [family, 'route', 'flush', ...which]);
      }
  }

  private async findOwner(table: string): Promise<string | undefined> {
    try {
      const text = await this.tools.run('nft', ['-t', 'list', 'table', 'inet', table]);
      return OWNER.exec(text)?.[1] ?? 'unknown';
    } catch (error) {
      if (error instanceof NetworkFailure && /No such file or directory/.test(error.output)) return undefined;
      throw error;
    }
  }

  private async isMarked(): Promise<boolean> {
    return readFile(join(this.options.folder, MARKER_FILE)).then(
      () => true,
      () => false,
    );
  }

  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }
}

function countLines(text: string): number {
  return text.split('\n').filter((line) => line.trim() !== '').length;
}

function sameRoutes(a: readonly CaptureRoute[], b: readonly CaptureRoute[]): boolean {
  return a.length === b.length && a.every(({ line }, i) => line === b[i]?.line);
}
