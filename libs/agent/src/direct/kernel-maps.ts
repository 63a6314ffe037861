import { readFile } from 'node:fs/promises';
import { errorText, type Clock, type Logger } from '@causeway/runtime';
import type { MachineNetwork } from '../capture/machine-network';
import { NetworkFailure } from '../capture/network-tools';
import { parseKernelAddress } from '../health/listening-sockets';
import type { PlaneRules } from '../plane';
import { DIRECT_TABLE, formatServiceKey, ServiceMaps, type DirectService } from '../capture/service-maps';

export interface KernelMapsOptions {
  readonly network: Pick<MachineNetwork, 'claim' | 'tools'>;
  /** Id of the agent. */
  readonly instance: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const SOCKETS = ['/proc/net/tcp', '/proc/net/tcp6'] as const;
/** Socket states, as the kernel prints them, in which data may still flow. */
const OPEN_STATES: ReadonlySet<string> = new Set(['01', '04', '05', '08']);

/** Backoff before a refused change is retried, ms. */
const RETRY = { first: 1_000, longest: 30_000 };

/**
 * nftables maps of this machine. One transaction runs at a time; changes meanwhile go into the next one. If a
 * transaction fails, for instance because the table was flushed, everything is written again.
 */
export class KernelMaps {
  /** Wanted content of the kernel, by `formatServiceKey`. */
  private readonly wanted = new Map<string, DirectService>();
  private dirty = new Set<string>();
  /** Content of the kernel; undefined: unknown. */
  private maps: ServiceMaps | undefined;
  private loading: Promise<void> | undefined;
  private nextLoad: Promise<void> | undefined;
  private loadedAt: number | undefined;
  private failure: string | undefined;
  private failures = 0;
  /** Number of transactions that were begun. */
  private transactions = 0;
  /** Number of transactions that the kernel refused. */
  private refusals = 0;
  /** Rules were found missing and are not yet restored. */
  private isLost = false;
  private restored = 0;
  private restoredAt: number | undefined;
  private isRemoved = false;

  constructor(private readonly options: KernelMapsOptions) {}

  get state(): Omit<PlaneRules, 'lost'> {
    const { maps, loadedAt, failure, refusals, restored, restoredAt } = this;
    const [addresses, slots] = [maps?.size ?? 0, maps?.slotCount ?? 0];
    return { addresses, slots, loadedAt, failure, refusals, restored, restoredAt };
  }

  /** Creates the table with these services, replacing one of an earlier run. Rejects if that fails. */
  async begin(services: ReadonlyMap<string, DirectService>): Promise<void> {
    for (const [key, service] of services) this.wanted.set(key, service);
    this.loading = this.rewriteAll().finally(() => (this.loading = undefined));
    await this.loading;
  }

  /** Sets services; undefined removes one. Resolves when the kernel has the change, or with why it does not. */
  async change(services: ReadonlyMap<string, DirectService | undefined>): Promise<string | undefined> {
    for (const [key, service] of services) {
      if (service) this.wanted.set(key, service);
      else this.wanted.delete(key);
      this.dirty.add(key);
    }
    await this.load();
    return this.failure;
  }

  /** Checks table, rules and maps, and writes everything again if a part is missing. Returns whether that was so. */
  async check(): Promise<boolean> {
    const { maps, transactions } = this;
    if (this.isRemoved || this.loading || !maps) return false;
    const stands = await this.isInstalled(maps);
    // A transaction in the meantime may have removed the part, or is about to restore it.
    if (stands || transactions !== this.transactions || this.loading || this.isRemoved) return false;
    this.isLost = true;
    this.maps = undefined;
    await this.load();
    return true;
  }

  /** Services with endpoints, by `formatServiceKey`. */
  get keys(): ReadonlySet<string> {
    return new Set(this.wanted.keys());
  }

  /** Refuses new connections; open ones continue. */
  async refuseNew(): Promise<void> {
    await this.change(new Map([...this.wanted.keys()].map((key) => [key, undefined])));
  }

  /** Removes the table. Idempotent. */
  async remove(): Promise<void> {
    this.isRemoved = true;
    await this.loading;
    if (this.loadedAt === undefined) return;
    // `delete` succeeds even if the table was already removed.
    const lines = `table inet ${DIRECT_TABLE}\ndelete table inet ${DIRECT_TABLE}\n`;
    await this.options.network.tools.run('nft', ['-f', '-'], lines);
    [this.maps, this.loadedAt] = [undefined, undefined];
  }

  private load(): Promise<void> {
    if (this.isRemoved) return Promise.resolve();
    if (this.loading) {
      const loadAgain = (): Promise<void> => {
        this.nextLoad = undefined;
        return this.load();
      };
      this.nextLoad ??= this.loading.then(loadAgain, loadAgain);
      return this.nextLoad;
    }
    if (this.maps && this.dirty.size === 0) return Promise.resolve();
    this.loading = this.loadOnce().finally(() => (this.loading = undefined));
    return this.loading;
  }

  private async loadOnce(): Promise<void> {
    const { logger, clock } = this.options;
    try {
      if (this.maps) await this.writeChange(this.maps).catch((error: unknown) => this.recover(error));
      else await this.rewriteAll();
      [this.failure, this.failures] = [undefined, 0];
      this.countRestored();
    } catch (error) {
      this.maps = undefined;
      this.refusals += 1;
      this.failure = errorText(error);
      logger.error('connections to virtual IPs cannot be directed to their services', { reason: this.failure });
      const pause = Math.min(RETRY.longest, RETRY.first * 2 ** this.failures++);
      clock.after(pause, () => void this.load());
    }
  }

  private async recover(error: unknown): Promise<void> {
    this.options.logger.warn('the maps of the kernel are written anew', { reason: errorText(error) });
    this.refusals += 1;
    if (isMissing(error)) this.isLost = true;
    await this.rewriteAll();
  }

  private countRestored(): void {
    if (!this.isLost) return;
    this.isLost = false;
    this.restored += 1;
    this.restoredAt = this.options.clock.now();
  }

  private async isInstalled(maps: ServiceMaps): Promise<boolean> {
    const { text, used } = maps.renderCheck();
    try {
      await this.options.network.tools.run('nft', ['-c', '-f', '-'], text);
      return false;
    } catch (error) {
      if (isMissing(error)) return false;
      const refused = error instanceof NetworkFailure ? (error.output.match(/resource busy/gi)?.length ?? 0) : 0;
      if (refused === 0) throw error;
      return refused === used;
    }
  }

  private async writeChange(maps: ServiceMaps): Promise<void> {
    const keys = this.takeDirtyKeys();
    await this.run(maps.renderChange(new Map(keys.map((key) => [key, this.wanted.get(key)]))));
  }

  private async rewriteAll(): Promise<void> {
    this.maps = undefined;
    this.takeDirtyKeys();
    await this.options.network.claim(DIRECT_TABLE);
    const maps = new ServiceMaps(this.options.instance);
    await this.run(maps.createTable() + maps.renderChange(this.wanted));
    this.maps = maps;
  }

  private async run(text: string): Promise<void> {
    if (text === '') return;
    this.transactions += 1;
    await this.options.network.tools.run('nft', ['-f', '-'], text);
    this.loadedAt = this.options.clock.now();
  }

  private takeDirtyKeys(): readonly string[] {
    const keys = [...this.dirty];
    this.dirty = new Set();
    return keys;
  }
}

/** Returns whether a transaction failed because another program removed its table or map. */
function isMissing(error: unknown): boolean {
  return error instanceof NetworkFailure && /No such file or directory/.test(error.output);
}

/**
 * Counts the open connections of this network namespace to these addresses (`formatServiceKey`). Linear in its sockets.
 */
export async function countOpenConnections(keys: ReadonlySet<string>): Promise<number> {
  const tables = await Promise.all(SOCKETS.map((path) => readFile(path, 'latin1').catch(() => '')));
  return tables.reduce((sum, table) => sum + countConnections(table, keys), 0);
}

/** Counts them in a socket table of the kernel. */
export function countConnections(table: string, keys: ReadonlySet<string>): number {
  let open = 0;
  for (const line of table.split('\n').slice(1)) {
    const [, , remote = '', state = ''] = line.trim().split(/\s+/);
    const [address = '', port = ''] = remote.split(':');
    if (!OPEN_STATES.has(state)) continue;
    if (keys.has(formatServiceKey({ address: parseKernelAddress(address), port: Number.parseInt(port, 16) })))
      open += 1;
  }
  return open;
}
