import { compareText, FieldPath } from '@causeway/resources';
import { type RefusedResource, RESOURCE_TYPES } from '@causeway/xds-server';

/**
 * Maximum number of addresses at which a proxy of capture `bind` listens if its Dataplane declares no backends: each is a listener of about 30 kB.
 * Those beyond it are not bound; what is bound stays.
 */
const MAX_BOUND_ADDRESSES = 2_000;

/** An address of a service. */
interface BindableService {
  readonly name: string;
  readonly vip: string;
}

/** The services for which the proxies of one view listen although its Dataplane does not declare them: at most `max`, the first ones. */
export class BoundServices {
  private readonly admitted = new Set<string>();
  private readonly waiting = new Set<string>();

  constructor(private readonly max = MAX_BOUND_ADDRESSES) {}

  /** The number of services that are bound. */
  get size(): number {
    return this.admitted.size;
  }

  /** The number of services that are not bound because there are too many. */
  get left(): number {
    return this.waiting.size;
  }

  /** Returns whether a service is bound: it keeps its place until it is removed. */
  admit(name: string): boolean {
    if (this.admitted.has(name)) return true;
    if (this.admitted.size < this.max) {
      this.waiting.delete(name);
      this.admitted.add(name);
      return true;
    }
    this.waiting.add(name);
    return false;
  }

  /** Applies that a service is gone; returns the one that may take a free place. */
  remove(name: string): string | undefined {
    this.waiting.delete(name);
    this.admitted.delete(name);
    const [next] = this.waiting;
    return this.admitted.size < this.max ? next : undefined;
  }

  /**
   * Orders all services so that those which are bound come first, then those with the lowest virtual IPs: these are given out in ascending order, so
   * a restarted control plane binds those that came first. Services that are not among them lose their places.
   */
  order(services: Iterable<BindableService>): readonly string[] {
    const all = [...services];
    const names = new Set(all.map(({ name }) => name));
    for (const set of [this.admitted, this.waiting]) for (const name of set) if (!names.has(name)) set.delete(name);
    const rank = ({ name, vip }: BindableService): string =>
      `${this.admitted.has(name) ? 0 : 1} ${formatSortable(vip)} ${name}`;
    return all
      .map((each) => ({ name: each.name, rank: rank(each) }))
      .sort((a, b) => compareText(a.rank, b.rank))
      .map(({ name }) => name);
  }
}

/** Describes that services are not bound because there are too many. */
export function describeUnbound(left: number): readonly RefusedResource[] {
  if (left === 0) return [];
  const at = FieldPath.at('spec').field('networking').field('transparentProxying').field('reachableBackends');
  const rule = `capture bind listens at ${MAX_BOUND_ADDRESSES} addresses, and ${left} more are not bound: declare the services that this Dataplane calls`;
  return [
    { type: RESOURCE_TYPES.listener, name: 'outbound', violations: [at.violation(rule, 'too-many')], isDeclared: true },
  ];
}

/** Pads the numbers of an IPv4 address, so that texts sort as addresses do. */
function formatSortable(vip: string): string {
  return vip.includes(':') ? vip : vip.replace(/\d+/g, (digits) => digits.padStart(3, '0'));
}
