import {
  RESOURCE_TYPES,
  type EncodedResource,
  type Proxy,
  type RefusedResource,
  type ResourceSource,
  type SourceListener,
} from '@causeway/xds-server';
import type { EnvoyResources, EnvoyView } from '@causeway/xds-translation';

const LISTED: readonly string[] = [RESOURCE_TYPES.cluster, RESOURCE_TYPES.listener];

/** Resources that the proxies of one view have, and for which no change was announced since. */
interface Given {
  /** Resources by type and name; undefined for a name without a resource. */
  readonly resources: Map<string, Map<string, EncodedResource | undefined>>;
  /** The names that they listed, by type. */
  readonly lists: Map<string, ReadonlySet<string>>;
  /** Requests and acks of the proxies, to replay to a source that knows none of them. */
  readonly asked: ((of: EnvoyResources, proxy: Proxy<EnvoyView>) => void)[];
  /** Addresses that they use on demand, by the names of their clusters. */
  readonly onDemand: Set<string>;
}

/**
 * Compares each answer with a build from nothing: after each change, the resources of a proxy for which no change was announced must equal those of a
 * fresh build. A difference is a stale proxy.
 */
export class OracleSource implements ResourceSource<EnvoyView> {
  /** Resources that proxies hold and a build from nothing does not give. */
  readonly differences: string[] = [];
  /** Number of compared answers. */
  compared = 0;
  private readonly views = new Map<EnvoyView, Given>();

  /** `fresh`: makes resources anew from the same index, policies and hosts. */
  constructor(
    private readonly source: EnvoyResources,
    private readonly fresh: () => EnvoyResources,
  ) {
    source.subscribe({
      changed: ({ type, names, group, view: only }) => {
        for (const [view, { resources }] of this.views) {
          const isMeant = (only ?? view) === view && (group === undefined || group === source.findGroup(view));
          if (!isMeant) continue;
          // Views with lists of their own are notified by their group; requested names are notified in any case.
          const isFollowed = group !== undefined || !source.listsOwn(view);
          for (const name of names)
            if (isFollowed || !this.isListed(view, type, name)) resources.get(type)?.delete(name);
        }
      },
      relisted: ({ view: only }) => {
        for (const [view, { lists, resources }] of this.views) {
          if (only === undefined ? source.listsOwn(view) : only !== view) continue;
          for (const [type, before] of lists) {
            const now = new Set(source.names({ id: 'oracle', view }, type));
            for (const name of before) if (!now.has(name)) resources.get(type)?.delete(name);
            lists.set(type, now);
          }
        }
      },
      allChanged: (_, only) => {
        for (const view of only === undefined ? this.views.keys() : [only]) this.forget(view);
      },
    });
  }

  get revision(): number {
    return this.source.revision;
  }

  get(view: EnvoyView, type: string, name: string): EncodedResource | 'pending' | undefined {
    const found = this.source.get(view, type, name);
    const { resources } = this.givenTo(view);
    const ofType = resources.get(type) ?? new Map<string, EncodedResource | undefined>();
    resources.set(type, ofType);
    if (found === 'pending') ofType.delete(name);
    else ofType.set(name, found);
    return found;
  }

  names(proxy: Proxy<EnvoyView>, type: string): ReadonlySet<string> {
    const names = this.source.names(proxy, type);
    if (LISTED.includes(type)) this.givenTo(proxy.view).lists.set(type, new Set(names));
    return names;
  }

  released(type: string, name: string): void {
    this.source.released(type, name);
  }

  takeRelisted(view: EnvoyView, type: string): ReadonlySet<string> {
    return this.source.takeRelisted(view, type);
  }

  findGroup(view: EnvoyView): string | undefined {
    return this.source.findGroup(view);
  }

  listsOwn(view: EnvoyView): boolean {
    return this.source.listsOwn(view);
  }

  subscribe(listener: SourceListener<EnvoyView>): () => void {
    return this.source.subscribe(listener);
  }

  subscribed(proxy: Proxy<EnvoyView>, type: string, names: readonly string[]): void {
    const { asked, onDemand } = this.givenTo(proxy.view);
    asked.push((of, by) => of.subscribed(by, type, names));
    if (type === RESOURCE_TYPES.cluster) for (const name of names) if (name.startsWith('vip:')) onDemand.add(name);
    this.source.subscribed(proxy, type, names);
  }

  unsubscribed(proxy: Proxy<EnvoyView>, type: string, names: readonly string[]): void {
    const { asked, resources, onDemand } = this.givenTo(proxy.view);
    asked.push((of, by) => of.unsubscribed(by, type, names));
    for (const name of names) {
      resources.get(type)?.delete(name);
      if (type === RESOURCE_TYPES.cluster) onDemand.delete(name);
    }
    this.source.unsubscribed(proxy, type, names);
  }

  acked(proxy: Proxy<EnvoyView>, type: string): void {
    this.givenTo(proxy.view).asked.push((of, by) => of.acked(by, type));
    this.source.acked(proxy, type);
  }

  refused(proxy: Proxy<EnvoyView>): Iterable<RefusedResource> {
    return this.source.refused(proxy);
  }

  /** Compares all that proxies hold with a build from nothing. */
  check(): void {
    const fresh = this.fresh();
    reuseEncoded(fresh, (view, type, name) => this.views.get(view)?.resources.get(type)?.get(name));
    const close = fresh.follow();
    for (const [view, { resources, lists, asked, onDemand }] of this.views) {
      // A used address is listed once its proxy has acked the resources of it.
      if ([...onDemand].some((name) => resources.get(RESOURCE_TYPES.cluster)?.has(name) !== true)) continue;
      const proxy = { id: 'oracle', view };
      for (const ask of asked) ask(fresh, proxy);
      for (const [type, names] of lists) {
        const wanted = fresh.names(proxy, type);
        this.compare(`${type} of ${describe(view)}`, [...names].sort().join(' '), [...wanted].sort().join(' '));
      }
      for (const [type, held] of resources)
        for (const [name, given] of held) {
          const wanted = fresh.get(view, type, name);
          if (wanted !== 'pending')
            this.compare(`${type} ${name} of ${describe(view)}`, given?.version ?? '', wanted?.version ?? '');
        }
    }
    close();
  }

  private compare(what: string, held: string, wanted: string): void {
    this.compared += 1;
    if (held !== wanted) this.differences.push(`${what}: held "${held}", made anew "${wanted}"`);
  }

  private isListed(view: EnvoyView, type: string, name: string): boolean {
    return this.views.get(view)?.lists.get(type)?.has(name) === true;
  }

  private givenTo(view: EnvoyView): Given {
    const given = this.views.get(view) ?? {
      resources: new Map(),
      lists: new Map(),
      asked: [],
      onDemand: new Set(),
    };
    this.views.set(view, given);
    return given;
  }

  private forget(view: EnvoyView): void {
    const given = this.views.get(view);
    given?.resources.clear();
    given?.lists.clear();
  }
}

/** Gives each build of `fresh` the held resources: equal bytes are not checked and hashed again, which is half of its cost. */
function reuseEncoded(
  fresh: EnvoyResources,
  held: (view: EnvoyView, type: string, name: string) => EncodedResource | undefined,
): void {
  const translation = fresh['translation'];
  const plan = translation.plan.bind(translation);
  translation.plan = (view, type, name) => {
    const made = plan(view, type, name);
    if (made === undefined || made === 'pending') return made;
    return { ...made, encode: (previous) => made.encode(previous ?? held(view, type, name)) };
  };
}

function describe({ mesh, dataplane, capture, ingress, egress }: EnvoyView): string {
  return `${dataplane?.name ?? (ingress ? 'ingress' : egress ? 'egress' : mesh)} (${capture?.type ?? 'no capture'})`;
}
