import { readFile } from 'node:fs/promises';
import { errorText, type Clock, type Logger } from '@causeway/runtime';
import type { MachineNetwork } from '../capture/machine-network';
import { NetworkFailure } from '../capture/network-tools';
import { readableAddress } from '../health/listening-sockets';
import type { PlaneRules } from '../plane';
import { DIRECT_TABLE, serviceKey, ServiceMaps, type DirectService } from '../capture/service-maps';

export interface KernelMapsOptions {
  readonly network: Pick<MachineNetwork, 'claim' | 'tools'>;
  /** Of the agent. */
  readonly instance: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const SOCKETS = ['/proc/net/tcp', '/proc/net/tcp6'] as const;
/** States of a socket, as the kernel prints them, in which bytes may still come or go. */
const OPEN: ReadonlySet<string> = new Set(['01', '04', '05', '08']);

/** Pauses before a change that the kernel has refused is tried again, ms. */
const RETRY = { first: 1_000, longest: 30_000 };

/**
 * The maps of this machine in its kernel. One transaction runs at a time; changes meanwhile go into the next one. If a
 * transaction fails, for instance because the table was flushed, everything is written again.
 */
export class KernelMaps {
  /** Wanted content of the kernel, by `serviceKey`. */
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
  /** It was noticed that rules are missing, and they are not put back yet. */
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

  /** Makes the table, in the place of one that an earlier run has left, with these services. Rejects where that is not possible. */
  async begin(services: ReadonlyMap<string, DirectService>): Promise<void> {
    for (const [key, service] of services) this.wanted.set(key, service);
    this.loading = this.writeAnew().finally(() => (this.loading = undefined));
    await this.loading;
  }

  /** Brings services to what is given, undefined: gone. Resolves when the kernel does so: with why not, where it does not. */
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
    const stands = await this.stands(maps);
    // // The missing part may have been removed by another transaction meanwhile, or one is about to do so.
    if (stands || transactions !== this.transactions || this.loading || this.isRemoved) return false;
    this.isLost = true;
    this.maps = undefined;
    await this.load();
    return true;
  }

  /** Services with endpoints, by `serviceKey`. */
  get keys(): ReadonlySet<string> {
    return new Set(this.wanted.keys());
  }

  /** New connections are refused from now on; open ones go on. */
  async refuseNew(): Promise<void> {
    await this.change(new Map([...this.wanted.keys()].map((key) => [key, undefined])));
  }

  /** The table is gone. Idempotent. */
  async remove(): Promise<void> {
    this.isRemoved = true;
    await this.loading;
    if (this.loadedAt === undefined) return;
    // // A table that was already removed is no error.
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
      else await this.writeAnew();
      [this.failure, this.failures] = [undefined, 0];
      this.countRestored();
    } catch (error) {
      this.maps = undefined;
      this.refusals += 1;
      this.failure = errorText(error);
      logger.error('virtual IPs cannot be led to their services', { reason: this.failure });
      const pause = Math.min(RETRY.longest, RETRY.first * 2 ** this.failures++);
      clock.after(pause, () => void this.load());
    }
  }

  private async recover(error: unknown): Promise<void> {
    this.options.logger.warn('the maps of the kernel are written anew', { reason: errorText(error) });
    this.refusals += 1;
    if (isMissing(error)) this.isLost = true;
    await this.writeAnew();
  }

  private countRestored(): void {
    if (!this.isLost) return;
    this.isLost = false;
    this.restored += 1;
    this.restoredAt = this.options.clock.now();
  }

  private async stands(maps: ServiceMaps): Promise<boolean> {
    const { text, used } = maps.trial();
    try {
      await this.options.network.tools.run('nft', ['-c', '-f', '-'], text);
      return false;
    } catch (error) {
      if (isMissing(error)) return false;
      const refused = error instanceof NetworkFailure ? (error.said.match(/resource busy/gi)?.length ?? 0) : 0;
      if (refused === 0) throw error;
      return refused === used;
    }
  }

  private async writeChange(maps: ServiceMaps): Promise<void> {
    const keys = this.take();
    await this.run(maps.change(new Map(keys.map((key) => [key, this.wanted.get(key)]))));
  }

  private async writeAnew(): Promise<void> {
    this.maps = undefined;
    this.take();
    await this.options.network.claim(DIRECT_TABLE);
    const maps = new ServiceMaps(this.options.instance);
    await this.run(maps.begin() + maps.change(this.wanted));
    this.maps = maps;
  }

  private async run(text: string): Promise<void> {
    if (text === '') return;
    this.transactions += 1;
    await this.options.network.tools.run('nft', ['-f', '-'], text);
    this.loadedAt = this.options.clock.now();
  }

  private take(): readonly string[] {
    const keys = [...this.dirty];
    this.dirty = new Set();
    return keys;
  }
}

/** Somebody has removed what a transaction is about. */
function isMissing(error: unknown): boolean {
  return error instanceof NetworkFailure && /No such file or directory/.test(error.said);
}

/**
 * Counts the open connections of this network namespace that were made to these addresses (`serviceKey`). Linear in its
 * sockets.
 */
export async function openConnections(keys: ReadonlySet<string>): Promise<number> {
  const tables = await Promise.all(SOCKETS.map((path) => readFile(path, 'latin1').catch(() => '')));
  return tables.reduce((sum, table) => sum + connectionsIn(table, keys), 0);
}

/** The same, of a table of the kernel. */
export function connectionsIn(table: string, keys: ReadonlySet<string>): number {
  let open = 0;
  for (const line of table.split('\n').slice(1)) {
    const [, , remote = '', state = ''] = line.trim().split(/\s+/);
    const [address = '', port = ''] = remote.split(':');
    if (!OPEN.has(state)) continue;
    if (keys.has(serviceKey({ address: readableAddress(address), port: Number.parseInt(port, 16) }))) open += 1;
  }
  return open;
}
