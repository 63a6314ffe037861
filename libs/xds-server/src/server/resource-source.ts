import type { Identity, Violation } from '@causeway/resources';
import type { EncodedResource } from '../resources/encoded-resource';

/** A proxy from the point of view of a source. */
export interface Proxy<V> {
  /** Unique among the proxies of an installation: mesh and name of its Dataplane. */
  readonly id: string;
  /** Selects the contents: resources are the same for all proxies of one view. Views are compared by identity. */
  readonly view: V;
  /** The Dataplane or ingress of the proxy. */
  readonly owner?: Identity;
  /** The reason why it passes all traffic through as TCP and applies no route; absent if it does not. */
  readonly tcpPassthroughReason?: string;
}

/** A resource that violates Envoy's constraints and is not sent. */
export interface RefusedResource {
  readonly type: string;
  readonly name: string;
  readonly violations: readonly Violation[];
  /** Set if the proxy's own Dataplane declares it: it is shown for the proxy, which never requests a resource that does not exist. */
  readonly isDeclared?: true;
}

/** Resources whose content may have changed, or that came or went. */
export interface ResourceChange<V> {
  /** The first revision that contains a change of these; acknowledgements are counted in these revisions. */
  readonly revision: number;
  readonly type: string;
  readonly names: readonly string[];
  /** Limits the change to this view; absent: all views. */
  readonly view?: V;
  /** Limits the change to proxies of this group (`ResourceSource.findGroup`). */
  readonly group?: string;
}

/** Names may have joined or left the wildcard subscriptions of proxies. */
export interface ListingChange<V> {
  readonly revision: number;
  /** Limits the change to this view; absent: all views whose lists depend on more than their own changes. */
  readonly view?: V;
}

export interface SourceListener<V> {
  changed(change: ResourceChange<V>): void;
  relisted(change: ListingChange<V>): void;
  /** Announces that everything, or everything of one view, may have changed; `revision` as in `ResourceChange`. */
  allChanged(revision: number, view?: V): void;
}

/**
 * The port by which the server reads resources: by type and name, without knowledge of meshes. All calls are synchronous and cheap: `get` is called
 * for each changed name and each subscriber, and returns the same object as long as the content is the same.
 */
export interface ResourceSource<V> {
  /** The revision of the source; it never decreases. */
  readonly revision: number;
  /**
   * Returns the resource for a proxy of this view that requested it; `pending` if a later change announces it (the request stays open), undefined if
   * there is none (the proxy gets a removal).
   */
  get(view: V, type: string, name: string): EncodedResource | 'pending' | undefined;
  /** Returns the names of a wildcard subscription: the clusters or listeners that this proxy uses. */
  names(proxy: Proxy<V>, type: string): ReadonlySet<string>;
  /**
   * Returns the names that joined or left the result of `names` for a view since the last call, which counts for all its proxies. Without this method
   * such names are announced as changed.
   */
  takeRelisted?(view: V, type: string): ReadonlySet<string>;
  /** Returns the group of a view, such as the proxies of one Dataplane, whose proxies get changes that concern only them. */
  findGroup?(view: V): string | undefined;
  /** Reports whether `names` of this view depends only on changes of the view; called again after each of them. */
  listsOwn?(view: V): boolean;
  /** Calls `listener` with changes until the returned function is called. */
  subscribe(listener: SourceListener<V>): () => void;
  /** Called when a proxy subscribes to these names explicitly. */
  subscribed?(proxy: Proxy<V>, type: string, names: readonly string[]): void;
  /** Called when a proxy unsubscribes from these names. */
  unsubscribed?(proxy: Proxy<V>, type: string, names: readonly string[]): void;
  /** Called when no stream subscribes to this name any more. */
  released?(type: string, name: string): void;
  /** Returns the resources of this proxy that violate Envoy's constraints. */
  refused?(proxy: Proxy<V>): Iterable<RefusedResource>;
  /** Called when a proxy has acknowledged a type up to a revision; a rejected resource counts as acknowledged. */
  acked?(proxy: Proxy<V>, type: string, revision: number): void;
  /** Called when a proxy already holds the content of a change of this type, so that no acknowledgement will come. */
  unchanged?(proxy: Proxy<V>, type: string): void;
}
