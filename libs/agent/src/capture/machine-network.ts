import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, type Clock, type Logger } from '@causeway/runtime';
import { DIRECT_TABLE } from './service-maps';
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
  /** Of the agent, kept over restarts (`agentInstance`): rules of another one are left alone. */
  readonly instance: string;
  readonly tools?: NetworkTools;
}

/** Rules and routes that the agent installed on its machine, for status. */
export interface NetworkStatus {
  /** Capture of connections to virtual IPs, and its ranges; absent: no rule captures. */
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

interface InstalledText {
  readonly rules: string;
  readonly routes: string;
}

/** The file in the state folder that says: rules of this agent may be in the kernel. */
const MARK = 'network-rules';
const TABLES = [DIRECT_TABLE, CAPTURE_TABLE];
/** Interval at which rules and routes are checked, ms. */
const POLL_INTERVAL = 2_000;
/** The same while they cannot be put back. */
const RETRY_INTERVAL = 15_000;
const OWNER = /comment "causeway-agent ([^"\s]+)"/;

/**
 * The rules and routes of one agent in the network namespace it runs in: a table of its own and routes of its own mark. Nothing else is
 * read or changed. What an agent that was killed has left is removed by the next one of the same state folder.
 */
export class MachineNetwork {
  readonly tools: NetworkTools;
  private plan: NetworkPlan = {};
  /** Rules and routes found by the last check. */
  private standing: NetworkPlan = {};
  private ruleset: string | undefined;
  private routes: readonly CaptureRoute[] = [];
  /** Rules and routes as the kernel showed them after the last change. */
  private installed: InstalledText = { rules: '', routes: '' };
  /** It was noticed that they differ, and they are not put back yet. */
  private isLost = false;
  private problem: string | undefined;
  private restored: Pick<NetworkStatus, 'restored' | 'restoredAt'> = { restored: 0 };
  /** One change after the other. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: MachineNetworkOptions) {
    this.tools = options.tools ?? systemTools;
  }

  /**
   * Brings the machine to a plan, from whatever an earlier run has left; nothing happens where it is there. Rejects, with nothing left behind, where that is not permitted, a
   * program is missing, another agent has the table, or a route to a range exists that is not ours.
   */
  apply(plan: NetworkPlan): Promise<void> {
    return this.next(() => this.become(plan));
  }

  /**
   * Whether a rule is in force that admits only the proxy to this port; also while a flushed rule is being restored.
   */
  guards(port: number): boolean {
    return this.standing.guard?.ports.includes(port) === true;
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
   * Checks rules and routes every two seconds, until `signal` aborts: another program may have flushed or changed them.
   * They are restored, counted and logged; `changed` is called when `guards` may return another result. Resolves after
   * the last check.
   */
  async watch(clock: Clock, logger: Logger, changed: () => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(this.problem === undefined ? POLL_INTERVAL : RETRY_INTERVAL, signal);
      if (signal.aborted) return;
      const before = this.problem;
      const isRestored = await this.next(() => this.look()).catch(() => false);
      if (isRestored) {
        this.restored = { restored: this.restored.restored + 1, restoredAt: clock.now() };
        logger.warn('somebody has removed or changed rules or routes of the agent: they are put back', {
          times: this.restored.restored,
        });
      }
      if (this.problem === before && !isRestored) continue;
      if (this.problem !== undefined && this.problem !== before)
        logger.error('rules or routes of the agent cannot be put back', { reason: this.problem });
      changed();
    }
  }

  /** The network is as before the first `apply`, also that of an earlier run that was killed. Idempotent; runs no program needlessly. */
  remove(): Promise<void> {
    return this.next(() => this.become({}));
  }

  /** Says that a table of this agent is about to be made. Rejects where another agent has it. */
  async claim(table: string): Promise<void> {
    const owner = await this.findOwner(table);
    if (owner !== undefined && owner !== this.options.instance)
      throw new Error(
        `the table inet ${table} is that of another agent of this machine (${owner}): end that one, or \`nft delete table inet ${table}\``,
      );
    await writeFile(join(this.options.folder, MARK), `inet ${TABLES.join(' ')}\n`, { mode: 0o600 });
  }

  private async become(plan: NetworkPlan): Promise<void> {
    this.plan = plan;
    try {
      await this.bring(plan);
      this.problem = undefined;
      this.standing = plan;
    } catch (error) {
      this.standing = {};
      this.problem = errorText(error);
      throw error;
    }
  }

  /** True where something that was there was missing and is put back. Rejects where it cannot be. */
  private async look(): Promise<boolean> {
    if (renderRuleset(this.plan, this.options.instance) === undefined) return false;
    if (this.ruleset !== undefined) {
      const { rules, routes } = await this.present();
      if (rules === this.installed.rules && routes === this.installed.routes) return false;
      this.ruleset = undefined;
      if (routes !== this.installed.routes) this.routes = [];
      this.isLost = true;
    }
    await this.become(this.plan);
    const wasLost = this.isLost;
    this.isLost = false;
    return wasLost;
  }

  /** Rules and routes of the agent as the kernel shows them; empty where there are none. */
  private async present(): Promise<InstalledText> {
    const ours = ['route', 'show', 'table', 'all', 'proto', String(ROUTE_PROTOCOL)];
    const shown = (program: 'nft' | 'ip', args: readonly string[]): Promise<string> =>
      this.tools.run(program, args).catch(() => '');
    const [rules, ...routes] = await Promise.all([
      shown('nft', ['list', 'table', 'inet', CAPTURE_TABLE]),
      ...['-4', '-6'].map((family) => shown('ip', [family, ...ours])),
    ]);
    return { rules, routes: routes.join('\n') };
  }

  private async bring(plan: NetworkPlan): Promise<void> {
    const { instance } = this.options;
    const ruleset = renderRuleset(plan, instance);
    if (ruleset === undefined) return this.clearMarked();
    if (ruleset === this.ruleset) return;
    await this.claim(CAPTURE_TABLE);
    try {
      const left = plan.capture?.type === 'translate' ? '' : await this.leftBy(DIRECT_TABLE);
      await this.tools.run('nft', ['-f', '-'], left + ruleset);
      this.ruleset = ruleset;
      await this.bringRoutes(listCaptureRoutes(plan));
      this.installed = await this.present();
    } catch (error) {
      // The first reason counts.
      await this.clear().catch(() => undefined);
      throw error;
    }
  }

  /** Takes back the table that an earlier run of this agent, with another plane, has left. */
  private async leftBy(table: string): Promise<string> {
    const isOwn = (await this.findOwner(table)) === this.options.instance;
    return isOwn ? `delete table inet ${table}\n` : '';
  }

  private async bringRoutes(routes: readonly CaptureRoute[]): Promise<void> {
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
      if (!(error instanceof NetworkFailure) || !/File exists/.test(error.said)) throw error;
      const number = Number(/-:(\d+)/.exec(error.said)?.[1] ?? 1);
      throw new Error(`there is a route already where the agent needs one: ${lines[number - 1] ?? lines.join(', ')}`, {
        cause: error,
      });
    }
  }

  private async clearMarked(): Promise<void> {
    if (await this.isMarked()) await this.clear();
  }

  /** If the file says that rules were installed, routes may exist even if all tables were flushed. */
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
    await rm(join(folder, MARK), { force: true });
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
      if (error instanceof NetworkFailure && /No such file or directory/.test(error.said)) return undefined;
      throw error;
    }
  }

  private async isMarked(): Promise<boolean> {
    return readFile(join(this.options.folder, MARK)).then(
      () => true,
      () => false,
    );
  }

  private next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }
}

function sameRoutes(a: readonly CaptureRoute[], b: readonly CaptureRoute[]): boolean {
  return a.length === b.length && a.every(({ line }, i) => line === b[i]?.line);
}
