import type { Identity, Violation } from '@causeway/resources';
import type { EncodedResource } from '../resources/encoded-resource';

/** A proxy as a source knows it. */
export interface Proxy<V> {
  /** Unique among the proxies of an installation: mesh and name of its Dataplane. */
  readonly id: string;
  /** The view that decides about contents: resources are the same for all proxies of one view. Views are compared by identity. */
  readonly view: V;
  /** The Dataplane, or the ingress, that it is the proxy of. */
  readonly owner?: Identity;
  /** Why it passes all traffic through as TCP and applies no route; absent where it does not. */
  readonly tcpPassthroughReason?: string;
}

/** A resource that breaks Envoy's rules and is not sent. */
export interface RefusedResource {
  readonly type: string;
  readonly name: string;
  readonly violations: readonly Violation[];
  /** Its own Dataplane asks for it: it concerns the proxy, which never asks for what is not there. */
  readonly isDeclared?: true;
}

/** Resources whose content may differ from now on, or that came or went. */
export interface ResourceChange<V> {
  /** The first revision that holds a change of these; what proxies have acked is counted in these revisions. */
  readonly revision: number;
  readonly type: string;
  readonly names: readonly string[];
  /** Only in this view; in all of them without it. */
  readonly view?: V;
  /** Only for proxies of this group (`ResourceSource.findGroup`). */
  readonly group?: string;
}

/** Names may have joined or left what proxies are sent without asking for it: their wildcards. */
export interface ListingChange<V> {
  readonly revision: number;
  /** Only those of this view; without it all that follow more than changes of their own. */
  readonly view?: V;
}

export interface SourceListener<V> {
  changed(change: ResourceChange<V>): void;
  relisted(change: ListingChange<V>): void;
  /** Everything may differ, or all of one view; `revision` as in `ResourceChange`. */
  allChanged(revision: number, view?: V): void;
}

/**
 * What the server serves: names to resources. The server knows no mesh. All calls are synchronous and cheap: `get` is called for
 * each changed name and each subscriber, and gives the same object as long as the content is the same.
 */
export interface ResourceSource<V> {
  /** The revision of the source; it never falls. */
  readonly revision: number;
  /**
   * The resource, for a proxy of this view that asked for it; `pending` where it is announced by a later change (a proxy's question stays open), undefined where there is none
   * (the proxy is sent a removal).
   */
  get(view: V, type: string, name: string): EncodedResource | 'pending' | undefined;
  /** Returns the names of a wildcard subscription: for clusters and listeners, those that this proxy uses. */
  names(proxy: Proxy<V>, type: string): ReadonlySet<string>;
  /**
   * The names that joined or left what `names` gives for a view since the last call, which is for all its proxies at once. Without it such names
   * are announced as changed.
   */
  takeRelisted?(view: V, type: string): ReadonlySet<string>;
  /** Proxies of one group, such as those of one Dataplane, are sent what concerns them alone. */
  findGroup?(view: V): string | undefined;
  /** Whether `names` of this view follows changes of the view alone; asked again after each of them. */
  listsOwn?(view: V): boolean;
  /** Calls `listener` with changes until the returned function is called. */
  subscribe(listener: SourceListener<V>): () => void;
  /** A proxy asks for these names from now on, by name. */
  subscribed?(proxy: Proxy<V>, type: string, names: readonly string[]): void;
  /** A proxy asks for these names no longer. */
  unsubscribed?(proxy: Proxy<V>, type: string, names: readonly string[]): void;
  /** No stream asks for this name any more. */
  released?(type: string, name: string): void;
  /** Resources that this proxy may have asked for and that break Envoy's rules. */
  refused?(proxy: Proxy<V>): Iterable<RefusedResource>;
  /** A proxy has acked what it was sent of this type up to a revision; what it has rejected counts as acked. */
  acked?(proxy: Proxy<V>, type: string, revision: number): void;
  /** Of a change of this type a proxy lacks nothing: what it holds is as the change has it, and no ack will come. */
  unchanged?(proxy: Proxy<V>, type: string): void;
}
