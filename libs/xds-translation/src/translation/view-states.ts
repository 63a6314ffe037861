import type { EnvoyView } from '../views/envoy-view';
import { OnDemandAddresses } from './on-demand-addresses';
import { ServedResources } from './served-resources';

/** State of one view, kept as long as the view is. */
export interface ViewState {
  /** Resources that are built for this view. */
  readonly served: ServedResources<EnvoyView>;
  readonly onDemand: OnDemandAddresses;
}

/** The states of views, held weakly: the state of a view is collected together with the view. */
export class ViewStates {
  private readonly states = new WeakMap<EnvoyView, ViewState>();

  /** Returns the state of a view, created at its first use. */
  of(view: EnvoyView): ViewState {
    const known = this.states.get(view);
    if (known) return known;
    const state: ViewState = { served: new ServedResources<EnvoyView>(), onDemand: new OnDemandAddresses() };
    this.states.set(view, state);
    return state;
  }
}
