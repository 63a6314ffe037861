import { isIPv6 } from 'node:net';
import type { LocalAddress } from './local-address';
import { ownerComment } from './ruleset';

/** nftables table of the maps from services to endpoints. */
export const DIRECT_TABLE = 'causeway_direct';

/** Endpoint of a service and its share of connections. */
export interface WeightedEndpoint extends LocalAddress {
  /** Integer of at least 1. */
  readonly weight: number;
}

/** Endpoints of a virtual IP; if empty, connections are refused. */
export interface DirectService {
  readonly at: LocalAddress;
  readonly endpoints: readonly WeightedEndpoint[];
}

/** Maximum number of slots of a service with weighted endpoints: the precision of shares. */
const MAX_SLOTS = 1_024;

/** Address family in the names of the maps. */
type Family = '4' | '6';
const FAMILIES = ['4', '6'] as const;
const NAMES = { '4': 'ip', '6': 'ip6' } as const;

/**
 * nftables maps from services to endpoints, as text for `nft -f`. An endpoint has as many slots as its weight; the
 * entry of a service leads to a chain for its number of slots, which draws one for each connection. So the size of a
 * change is that of its difference, and nft need not read the kernel's maps.
 */
export class ServiceMaps {
  /** Endpoints by slot, `address . port`. */
  private readonly slots = new Map<string, readonly string[]>();
  private readonly chains = new Set<string>();

  constructor(private readonly instance: string) {}

  /** Renders the creation of the empty table: the first lines of the first transaction. */
  createTable(): string {
    const table = `inet ${DIRECT_TABLE}`;
    const maps = FAMILIES.flatMap((family) => {
      const place = `${NAMES[family]} daddr . tcp dport`;
      return [
        `  map services${family} { typeof ${place} : verdict; }`,
        `  map endpoints${family} { typeof ${place} . numgen random mod 2 : ${place}; }`,
      ];
    });
    return [
      `table ${table}`,
      `delete table ${table}`,
      `table ${table} {`,
      `  comment "${ownerComment(this.instance)}"`,
      ...maps,
      '  chain connect {',
      '    type nat hook output priority -100; policy accept;',
      '    ip daddr . tcp dport vmap @services4',
      '    ip6 daddr . tcp dport vmap @services6',
      '  }',
      '}',
      '',
    ].join('\n');
  }

  /**
   * Renders the transaction that sets services; undefined removes one. Empty if nothing differs. The caller must run
   * the result, or discard this object.
   */
  renderChange(services: ReadonlyMap<string, DirectService | undefined>): string {
    const lines = new ChangeLines();
    for (const [key, service] of services) this.changeOne(key, service ? formatSlots(service) : [], lines);
    return lines.text();
  }

  /** Number of services with endpoints. */
  get size(): number {
    return this.slots.size;
  }

  /** Number of slots in the maps, in proportion to weights. */
  get slotCount(): number {
    return [...this.slots.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /**
   * Renders a transaction for a dry run (`nft -c`) that checks rules and maps: the kernel refuses to delete a map that
   * a rule uses, so `used` refusals mean that all are installed. Listing the rules would make nft read all maps.
   */
  renderCheck(): { readonly text: string; readonly used: number } {
    const families = FAMILIES.filter((family) => [...this.chains].some((chain) => chain.endsWith(`_${family}`)));
    const maps = [...FAMILIES.map((family) => `services${family}`), ...families.map((family) => `endpoints${family}`)];
    const lines = maps.map((map) => `delete map inet ${DIRECT_TABLE} ${map}\n`);
    // Checks one element for all: a map may have been flushed.
    const [key] = this.slots.keys();
    if (key !== undefined)
      lines.unshift(`delete element inet ${DIRECT_TABLE} services${key.includes(':') ? '6' : '4'} { ${key} }\n`);
    return { text: lines.join(''), used: maps.length };
  }

  private changeOne(key: string, slots: readonly string[], lines: ChangeLines): void {
    const family = key.includes(':') ? '6' : '4';
    const before = this.slots.get(key) ?? [];
    for (let i = 0; i < Math.max(before.length, slots.length); i++) {
      const [old, now] = [before[i], slots[i]];
      if (old === now) continue;
      if (old !== undefined) lines.remove(`endpoints${family}`, `${key} . ${i}`);
      if (now !== undefined) lines.add(`endpoints${family}`, `${key} . ${i} : ${now}`);
    }
    if (before.length !== slots.length) {
      if (before.length > 0) lines.remove(`services${family}`, key);
      if (slots.length > 0)
        lines.add(`services${family}`, `${key} : goto ${this.getOrCreateChain(family, slots.length, lines)}`);
    }
    if (slots.length > 0) this.slots.set(key, slots);
    else this.slots.delete(key);
  }

  /** Returns the chain that draws one of `slots` slots; chains are kept, one per number of slots. */
  private getOrCreateChain(family: Family, slots: number, lines: ChangeLines): string {
    const name = `of${slots}_${family}`;
    if (this.chains.has(name)) return name;
    this.chains.add(name);
    const ip = NAMES[family];
    const choice = `${ip} daddr . tcp dport . numgen random mod ${slots}`;
    lines.create(name, `meta l4proto tcp dnat ${ip} to ${choice} map @endpoints${family}`);
    return name;
  }
}

/** Returns the map key of a service, as nft writes it: `address . port`. */
export function formatServiceKey({ address, port }: LocalAddress): string {
  return `${address} . ${port}`;
}

/** Lines in the order that one transaction requires: an element is removed before it is added again. */
class ChangeLines {
  private readonly chains: string[] = [];
  private readonly removed = new Map<string, string[]>();
  private readonly added = new Map<string, string[]>();

  create(chain: string, rule: string): void {
    this.chains.push(`add chain inet ${DIRECT_TABLE} ${chain}`, `add rule inet ${DIRECT_TABLE} ${chain} ${rule}`);
  }

  add(map: string, element: string): void {
    getOrCreateList(this.added, map).push(element);
  }

  remove(map: string, element: string): void {
    getOrCreateList(this.removed, map).push(element);
  }

  text(): string {
    const elements = (verb: string, of: ReadonlyMap<string, readonly string[]>): readonly string[] =>
      [...of].map(([map, list]) => `${verb} element inet ${DIRECT_TABLE} ${map} { ${list.join(', ')} }`);
    const lines = [...this.chains, ...elements('delete', this.removed), ...elements('add', this.added)];
    return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
  }
}

function getOrCreateList(lists: Map<string, string[]>, key: string): string[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** Lists the endpoints of the service's family, each once per unit of weight. */
function formatSlots({ at, endpoints }: DirectService): readonly string[] {
  const isV6 = isIPv6(at.address);
  const reachable = endpoints.filter(({ address }) => isIPv6(address) === isV6);
  const divisor = reachable.reduce((found, { weight }) => greatestDivisor(found, weight), 0);
  const sum = reachable.reduce((total, { weight }) => total + weight, 0) / divisor;
  // Endpoints of equal weight have one slot each, whatever their number.
  const isScaled = sum > MAX_SLOTS && sum > reachable.length;
  const scale = isScaled ? MAX_SLOTS / sum : 1;
  return reachable.flatMap(({ address, port, weight }) =>
    new Array<string>(Math.max(1, Math.round((weight / divisor) * scale))).fill(formatServiceKey({ address, port })),
  );
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
