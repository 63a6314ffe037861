import { NotFound } from '@causeway/resources';
import { rm } from 'node:fs/promises';
import type { Clock, Logger } from '@causeway/runtime';
import { XdsServer, type AdmittedProxy, type ProxyCaller, type ProxyTypeStatus } from '@causeway/xds-server';
import { LocalSource } from '../resources/local-source';
import type { CacheChange, ResourceReader } from '../resources/resource-reader';

/** Change that a proxy has not acked yet. */
interface UnackedChange {
  readonly proxy: string;
  readonly change: CacheChange;
  readonly revision: number;
  readonly settle: (refusal: string | undefined) => void;
}

/**
 * Serves the agent's caches to the proxies of this machine, at a unix socket in a folder that only the agent can enter.
 * It does not depend on the zone: the agent is a server with its state on disk, no relay (I14).
 */
export class LocalXdsServer {
  private readonly caches = new Map<string, ResourceReader>();
  private readonly stops = new Map<string, () => void>();
  private readonly source = new LocalSource((proxy) => this.checkAcks(proxy));
  private readonly server: XdsServer<ResourceReader>;
  private readonly waiting = new Set<UnackedChange>();
  /** Proxies that may disconnect for good: nothing waits for them. */
  private readonly leaving = new Set<string>();

  constructor(
    readonly path: string,
    { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  ) {
    const auth = { admit: (caller: ProxyCaller) => this.admit(caller) };
    this.server = new XdsServer({ source: this.source, auth, clock, logger });
    this.server.onLeaving(({ id }) => queueMicrotask(() => this.handleLeaving(id)));
  }

  /** Rejects if it cannot listen. */
  async listen(): Promise<void> {
    await rm(this.path, { force: true });
    await this.server.listenPath(this.path);
  }

  /** Serves the proxy with this node id from a cache. `leaves`: it may disconnect for good without notice. */
  serve(proxy: string, cache: ResourceReader, { leaves = false }: { readonly leaves?: boolean } = {}): void {
    if (leaves) this.leaving.add(proxy);
    this.caches.set(proxy, cache);
    this.stops.set(proxy, this.source.follow(cache));
  }

  forget(proxy: string): void {
    this.stops.get(proxy)?.();
    this.stops.delete(proxy);
    this.caches.delete(proxy);
    this.leaving.delete(proxy);
    this.release(proxy);
  }

  /** Returns whether a proxy has an open stream. */
  isConnected(proxy: string): boolean {
    return this.server.proxies().some(({ id }) => id === proxy);
  }

  /**
   * Resolves when a proxy has answered the latest change of its cache, or already has that state: undefined, or its
   * error text if it rejects one of the resources. Must be called in the same turn as the change. Waits while the proxy
   * is not connected, until `release`.
   */
  waitForAck(proxy: string, change: CacheChange): Promise<string | undefined> {
    return new Promise((settle) => {
      const waiting = { proxy, change, revision: this.source.revision, settle };
      this.waiting.add(waiting);
      this.checkAck(waiting, this.findTypes(proxy));
    });
  }

  /** Stops waiting for a proxy that is gone. */
  release(proxy: string): void {
    for (const each of this.waiting) if (each.proxy === proxy) this.settle(each, undefined);
  }

  async close(): Promise<void> {
    for (const proxy of [...this.caches.keys()]) this.forget(proxy);
    await this.server.close();
    await rm(this.path, { force: true });
  }

  private async admit({ node }: ProxyCaller): Promise<AdmittedProxy<ResourceReader>> {
    const view = this.caches.get(node);
    if (!view) throw new NotFound(`this agent runs no proxy ${JSON.stringify(node)}`);
    return { proxy: { id: node, view } };
  }

  private handleLeaving(proxy: string): void {
    if (this.leaving.has(proxy) && !this.isConnected(proxy)) this.release(proxy);
    else this.checkAcks(proxy);
  }

  private checkAcks(proxy: string): void {
    const types = this.findTypes(proxy);
    for (const each of this.waiting) if (each.proxy === proxy) this.checkAck(each, types);
  }

  private checkAck(waiting: UnackedChange, types: readonly ProxyTypeStatus[] | undefined): void {
    if (!types) return;
    const { change, revision } = waiting;
    const known = types.find(({ type }) => type === change.type);
    if (known && known.ackedRevision < revision) return;
    const names = new Set(change.names);
    const rejected = known?.rejected.find(({ name }) => names.has(name));
    this.settle(waiting, rejected?.text);
  }

  private settle(waiting: UnackedChange, refusal: string | undefined): void {
    this.waiting.delete(waiting);
    waiting.settle(refusal);
  }

  /** Returns the types of a proxy's newest stream; undefined while there is none. */
  private findTypes(proxy: string): readonly ProxyTypeStatus[] | undefined {
    return this.server
      .proxies()
      .filter(({ id }) => id === proxy)
      .at(-1)?.types;
  }
}
