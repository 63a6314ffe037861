import {
  encodeResource,
  type EncodedResource,
  type MessageCodec,
  type Proxy,
  type RefusedResource,
  type ResourceSource,
  type SourceListener,
} from '@causeway/xds-server';

type Named = { readonly name: string } | { readonly clusterName: string };

/** Resources in memory, the same for all views; a wildcard gets all of a type, or what `list` returns for a proxy. */
export class MapSource implements ResourceSource<string> {
  revision = 0;
  /** Names that proxies requested: `proxy type name`. */
  readonly asked: string[] = [];
  /** Resources that break rules. */
  readonly refusals: RefusedResource[] = [];
  /** Names whose resources cannot be made. */
  readonly broken = new Set<string>();
  private readonly byType = new Map<string, Map<string, EncodedResource>>();
  private readonly views = new Map<string, EncodedResource>();
  private readonly all = new Map<string, Set<string>>();
  private readonly listed = new Map<string, Set<string>>();
  private readonly pending = new Set<string>();
  private readonly listeners = new Set<SourceListener<string>>();

  get(view: string, type: string, name: string): EncodedResource | 'pending' | undefined {
    if (this.broken.has(name)) throw new Error(`${name} cannot be made`);
    if (this.pending.has(`${type} ${name}`)) return 'pending';
    return this.views.get(`${view} ${type} ${name}`) ?? this.byType.get(type)?.get(name);
  }

  names(proxy: Proxy<string>, type: string): ReadonlySet<string> {
    return this.listed.get(`${proxy.id} ${type}`) ?? this.all.get(type) ?? new Set();
  }

  subscribe(listener: SourceListener<string>): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  refused(): readonly RefusedResource[] {
    return this.refusals;
  }

  subscribed(proxy: Proxy<string>, type: string, names: readonly string[]): void {
    for (const name of names) this.asked.push(`${proxy.id} ${type} ${name}`);
  }

  /** Checked and encoded as in the product; throws with what Envoy would refuse. */
  put<T extends Named, P>(type: MessageCodec<T, P>, ...messages: readonly P[]): readonly EncodedResource[] {
    const encoded = messages.map((message) => this.encoded(type, message));
    this.putEncoded(...encoded);
    return encoded;
  }

  encoded<T extends Named, P>(type: MessageCodec<T, P>, message: P): EncodedResource {
    const result = encodeResource(type, message);
    if (!result.ok) throw new Error(JSON.stringify(result.violations));
    return result.resource;
  }

  putEncoded(...resources: readonly EncodedResource[]): void {
    for (const resource of resources) {
      this.typeOf(resource.type).set(resource.name, resource);
      this.pending.delete(`${resource.type} ${resource.name}`);
      this.namesOf(resource.type).add(resource.name);
    }
    this.tell(resources);
  }

  /** Content of one view. */
  putIn(view: string, resource: EncodedResource): void {
    this.views.set(`${view} ${resource.type} ${resource.name}`, resource);
    this.revision++;
    const change = { revision: this.revision, type: resource.type, names: [resource.name], view };
    for (const listener of this.listeners) listener.changed(change);
  }

  remove(...resources: readonly EncodedResource[]): void {
    for (const { type, name } of resources) {
      this.typeOf(type).delete(name);
      this.namesOf(type).delete(name);
    }
    this.tell(resources);
  }

  /** Questions for this name stay open until it is put. */
  announce(type: string, name: string): void {
    this.pending.add(`${type} ${name}`);
  }

  /** From now on a wildcard of this proxy gets these names alone. */
  list(proxy: string, type: string, names: readonly string[]): void {
    const before = this.listed.get(`${proxy} ${type}`) ?? this.all.get(type) ?? new Set();
    this.listed.set(`${proxy} ${type}`, new Set(names));
    this.revision++;
    const change = { revision: this.revision, type, names: [...before, ...names] };
    for (const listener of this.listeners) listener.changed(change);
  }

  private tell(resources: readonly EncodedResource[]): void {
    this.revision++;
    for (const type of new Set(resources.map((resource) => resource.type))) {
      const names = resources.filter((resource) => resource.type === type).map(({ name }) => name);
      for (const listener of this.listeners) listener.changed({ revision: this.revision, type, names });
    }
  }

  private typeOf(type: string): Map<string, EncodedResource> {
    const known = this.byType.get(type) ?? new Map<string, EncodedResource>();
    this.byType.set(type, known);
    return known;
  }

  private namesOf(type: string): Set<string> {
    const known = this.all.get(type) ?? new Set<string>();
    this.all.set(type, known);
    return known;
  }
}
