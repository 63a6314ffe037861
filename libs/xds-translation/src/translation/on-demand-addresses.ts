import { RESOURCE_TYPES } from '@causeway/xds-server';

const { filterChain, routes: routeConfiguration } = RESOURCE_TYPES;

/** Resources that the first connection to an HTTP service waits for, in this order. */
type FirstConnectionStep = 'chain asked' | 'chain acked' | 'routes asked' | 'done';

interface Use {
  readonly chain: string;
  /** The routes that the chain refers to; undefined if it refers to none. */
  readonly routes: string | undefined;
  step: FirstConnectionStep | 'listed';
}

/**
 * HTTP addresses that the proxies of one view use although these are not listed for it. The first connection is let through when a proxy has
 * acknowledged the filter chain and the routes of the address, so no request bypasses its routes (docs/reference/xds-translation.md, On demand).
 */
export class OnDemandAddresses {
  private readonly byVip = new Map<string, Use>();
  /** Filter chains and routes that proxies have requested and not dropped. */
  private readonly asked = { [filterChain]: new Set<string>(), [routeConfiguration]: new Set<string>() };

  /** Addresses (`address:port`) used so far: they stay listed. */
  get used(): Iterable<string> {
    return this.byVip.keys();
  }

  has(vip: string): boolean {
    return this.byVip.has(vip);
  }

  isWaiting(vip: string): boolean {
    const use = this.byVip.get(vip);
    return use !== undefined && use.step !== 'done';
  }

  /** Records the use of an address. Resources that its proxies already hold are not waited for: each is requested once. */
  begin({ vip, chain, routes }: Pick<Use, 'chain' | 'routes'> & { readonly vip: string }): void {
    this.byVip.set(vip, { chain, routes, step: this.getStep(chain, routes) });
  }

  /** Applies that the address belongs to another service with these routes. */
  follow(vip: string, routes: string | undefined): void {
    const use = this.byVip.get(vip);
    if (!use || use.routes === routes) return;
    const step = use.step === 'done' ? use.step : this.getStep(use.chain, routes);
    this.byVip.set(vip, { ...use, routes, step });
  }

  /** Applies that no HTTP service has the address. */
  forget(vip: string): void {
    this.byVip.delete(vip);
  }

  /** Applies that a proxy subscribed to these names. */
  subscribed(type: string, names: readonly string[]): void {
    for (const name of names) this.asked[type]?.add(name);
    const asked = new Set(names);
    for (const use of this.byVip.values()) {
      if (use.step === 'done') continue;
      if (type === filterChain && asked.has(use.chain)) use.step = 'chain asked';
      if (type === routeConfiguration && use.routes !== undefined && asked.has(use.routes)) use.step = 'routes asked';
    }
  }

  /** Applies that a proxy unsubscribed from these names. */
  unsubscribed(type: string, names: readonly string[]): void {
    for (const name of names) this.asked[type]?.delete(name);
  }

  /** Applies that a proxy acknowledged everything that it requested of a type; returns the addresses that no longer wait. */
  acked(type: string): readonly string[] {
    const done: string[] = [];
    for (const [vip, use] of this.byVip) {
      if (use.step === 'done') continue;
      if (type === filterChain && use.step === 'chain asked') use.step = this.getStep(use.chain, use.routes);
      else if (type === routeConfiguration && use.step === 'routes asked') use.step = 'done';
      if (use.step === 'done') done.push(vip);
    }
    return done;
  }

  private getStep(chain: string, routes: string | undefined): Use['step'] {
    if (this.asked[filterChain]?.has(chain) !== true) return 'listed';
    if (routes === undefined) return 'done';
    return this.asked[routeConfiguration]?.has(routes) === true ? 'done' : 'chain acked';
  }
}
