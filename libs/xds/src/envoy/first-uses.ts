import { RESOURCE_TYPES } from '../resources/encoded-resource';

/** What the first connection to an HTTP service waits for, in this order. */
type Step = 'chain asked' | 'chain acked' | 'routes asked' | 'done';

interface Waiting {
  readonly vip: string;
  readonly chain: string;
  readonly routes: string;
  step: Step | 'listed';
}

/**
 * HTTP addresses that the proxies of one view used without having listed them. The first connection is let through when a proxy
 * has acked the filter chain and the routes of the address, so no request escapes its routes (docs/reference/xds-translation.md, On demand).
 */
export class FirstUses {
  /** Addresses used so far: they stay listed. */
  readonly used = new Set<string>();
  private readonly waiting = new Map<string, Waiting>();
  private readonly routesHeld = new Set<string>();

  isWaiting(vip: string): boolean {
    return this.waiting.has(vip);
  }

  /** Notes the use of an address; false where it was used before. */
  begin(use: { readonly vip: string; readonly chain: string; readonly routes: string }): boolean {
    if (this.used.has(use.vip)) return false;
    this.used.add(use.vip);
    this.waiting.set(use.vip, { ...use, step: 'listed' });
    return true;
  }

  /** A proxy asks for these names. */
  subscribed(type: string, names: readonly string[]): void {
    const asked = new Set(names);
    for (const use of this.waiting.values()) {
      if (type === RESOURCE_TYPES.filterChain && asked.has(use.chain)) use.step = 'chain asked';
      if (type === RESOURCE_TYPES.routes && asked.has(use.routes)) use.step = 'routes asked';
    }
    if (type === RESOURCE_TYPES.routes) for (const name of names) this.routesHeld.add(name);
  }

  /** A proxy has acked all that it asked for of a type; returns the addresses that wait no longer. */
  acked(type: string): readonly string[] {
    for (const use of this.waiting.values()) {
      if (type === RESOURCE_TYPES.filterChain && use.step === 'chain asked')
        use.step = this.routesHeld.has(use.routes) ? 'done' : 'chain acked';
      if (type === RESOURCE_TYPES.routes && use.step === 'routes asked') use.step = 'done';
    }
    const done = [...this.waiting.values()].filter(({ step }) => step === 'done').map(({ vip }) => vip);
    for (const vip of done) this.waiting.delete(vip);
    return done;
  }
}
