import { RESOURCE_TYPES } from '@causeway/xds-server';
import { vipIn } from '../names/resource-names';
import type { EnvoyView } from '../views/envoy-view';
import { OnDemandAddresses } from './on-demand-addresses';
import { ServedResources } from './served-resources';

/** State of one view, kept as long as the view is. */
export interface ViewState {
  /** Resources that are built for this view. */
  readonly served: ServedResources<EnvoyView>;
  readonly onDemand: OnDemandAddresses;
  /** The `address:port` of the listeners that its proxies have requested by name. */
  readonly bound: Set<string>;
}

/** The states of views, held weakly: the state of a view is collected together with the view. */
export class ViewStates {
  private readonly states = new WeakMap<EnvoyView, ViewState>();

  /** Returns the state of a view, created at its first use. */
  of(view: EnvoyView): ViewState {
    const known = this.states.get(view);
    if (known) return known;
    const served = new ServedResources<EnvoyView>();
    const state: ViewState = { served, onDemand: new OnDemandAddresses(), bound: new Set() };
    this.states.set(view, state);
    return state;
  }

  /** Returns the addresses that the proxies of a view requested: with `redirect`, of HTTP services. */
  listUsed(view: EnvoyView): Iterable<string> {
    const { bound, onDemand } = this.of(view);
    return view.capture?.type === 'bind' ? bound : onDemand.used;
  }

  /** Applies that a proxy subscribed to these names. Returns whether the lists of the view may have changed. */
  subscribed(view: EnvoyView, type: string, names: readonly string[]): boolean {
    const { bound, onDemand } = this.of(view);
    onDemand.subscribed(type, names);
    const before = bound.size;
    for (const vip of listBound(view, type, names)) bound.add(vip);
    return bound.size !== before;
  }

  /** Applies that a proxy unsubscribed from these names. Returns whether the lists of the view may have changed. */
  unsubscribed(view: EnvoyView, type: string, names: readonly string[]): boolean {
    const { bound, onDemand } = this.of(view);
    onDemand.unsubscribed(type, names);
    const before = bound.size;
    for (const vip of listBound(view, type, names)) bound.delete(vip);
    return bound.size !== before;
  }
}

function listBound({ capture }: EnvoyView, type: string, names: readonly string[]): readonly string[] {
  if (type !== RESOURCE_TYPES.listener || capture?.type !== 'bind') return [];
  return names.flatMap((name) => vipIn(type, name) ?? []);
}
