import { outboundListenerName, parseXdsName } from '@causeway/xds-translation';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import type { LocalAddress } from '../capture/local-address';
import type { ResourceCache } from '../resources/resource-cache';
import type { CacheChange } from '../resources/resource-reader';
import { countConnections, type StatSnapshot } from './stats';

export interface OnDemandListenersOptions {
  readonly resources: Pick<
    ResourceCache,
    'want' | 'drop' | 'get' | 'names' | 'listWanted' | 'isAbsent' | 'appliedVersion' | 'subscribe'
  >;
  /** The dataplane that listens. */
  readonly plane: {
    readonly take: (change: CacheChange) => Promise<unknown>;
    readonly stats: () => Promise<StatSnapshot>;
  };
  /** Called with an address that a program dialled and that no service has. */
  readonly refuse: (at: LocalAddress) => void;
  /** Maximum number of addresses; default: 2,000. */
  readonly max?: number;
}

/** Number of addresses at which a dataplane listens on demand, for status and metrics. */
export interface OnDemandUse {
  readonly bound: number;
  readonly max: number;
}

/** Each address costs a socket, and 40 to 80 kB of the agent. */
const MAX_ADDRESSES = 2_000;
/** Room that is made at once, as a share of the maximum; and that by which it may be exceeded until then. */
const MARGIN = 0.05;
const { listener } = RESOURCE_TYPES;

/**
 * The virtual IPs at which a builtin dataplane listens although its Dataplane does not declare them: those whose name a program asked for, which a
 * program dialled, and which were used before a restart. They are subscribed listeners of the cache, and so on disk. If they become too many, those
 * that were not used for the longest time and have no connection are closed.
 */
export class OnDemandListeners {
  /** By listener, the least recently used first: the connections that it had accepted when it was looked at last. */
  private readonly used = new Map<string, number>();
  /** Addresses that were dialled, until the zone has answered for them. */
  private readonly dialled = new Map<string, LocalAddress>();
  private readonly max: number;
  private trimming: Promise<void> | undefined;
  private readonly stopFollowing: () => void;

  constructor(private readonly options: OnDemandListenersOptions) {
    this.max = options.max ?? MAX_ADDRESSES;
    for (const name of options.resources.listWanted(listener)) this.used.set(name, 0);
    this.stopFollowing = options.resources.subscribe((change) => this.follow(change));
  }

  get use(): OnDemandUse {
    const { resources } = this.options;
    const bound = [...resources.names(listener)].filter((name) => parseXdsName(name)?.prefix === 'outbound');
    return { bound: bound.length, max: this.max };
  }

  /** Listens at addresses whose name a program asked for. */
  asked(addresses: readonly LocalAddress[]): void {
    this.want(addresses.map(outboundListenerName));
  }

  /** Listens at an address that a program dialled, or refuses it if no service has it. */
  dial(at: LocalAddress): void {
    const name = outboundListenerName(at);
    if (this.want([name])) this.dialled.set(name, at);
  }

  /** Resolves when the addresses that are too many are closed. */
  async settled(): Promise<void> {
    await this.trimming;
  }

  close(): void {
    this.stopFollowing();
  }

  /** Returns whether the last one is subscribed. */
  private want(names: readonly string[]): boolean {
    const { resources } = this.options;
    let isWanted = false;
    for (const name of names) {
      const seen = this.used.get(name);
      // The zone lists it, as a declared backend.
      isWanted = seen !== undefined || !resources.names(listener).has(name);
      if (!isWanted) continue;
      if (seen === undefined && this.excess > this.max * MARGIN) return false;
      this.used.delete(name);
      this.used.set(name, seen ?? 0);
      if (seen === undefined) resources.want(listener, [name]);
    }
    if (this.excess > 0) this.trimming ??= this.trim().finally(() => (this.trimming = undefined));
    return isWanted;
  }

  /** The number of addresses above the maximum, those that are not subscribed by name included. */
  private get excess(): number {
    const { resources } = this.options;
    let listed = 0;
    if (this.used.size + resources.names(listener).size > this.max)
      for (const name of resources.names(listener)) if (!this.used.has(name)) listed += 1;
    return this.used.size + listed - this.max;
  }

  private async trim(): Promise<void> {
    const connections = countConnections(await this.options.plane.stats());
    const find = (name: string): { readonly active: number; readonly total: number } =>
      connections.get(parseXdsName(name)?.rest ?? '') ?? { active: 0, total: 0 };
    for (const [name, seen] of [...this.used]) {
      const { total } = find(name);
      if (total === seen) continue;
      this.used.delete(name);
      this.used.set(name, total);
    }
    const most = this.excess + Math.ceil(this.max * MARGIN);
    const idle = [...this.used.keys()].filter((name) => find(name).active === 0).slice(0, Math.max(0, most));
    await this.drop(idle);
  }

  private async drop(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    for (const name of names) this.used.delete(name);
    this.options.resources.drop(listener, names);
    await this.options.plane.take({ type: listener, names });
  }

  private follow({ type, names }: CacheChange): void {
    if (type !== listener) return;
    const { resources, refuse } = this.options;
    const absent = names.filter((name) => this.used.has(name) && resources.isAbsent(listener, name));
    for (const name of names) {
      const at = this.dialled.get(name);
      if (at && absent.includes(name)) refuse(at);
      if (resources.get(listener, name) !== 'pending') this.dialled.delete(name);
    }
    // Not while the cache announces the change.
    queueMicrotask(() => void this.drop(absent.filter((name) => resources.isAbsent(listener, name))));
  }
}
