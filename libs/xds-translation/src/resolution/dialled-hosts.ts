import { isIP } from 'node:net';
import { DEFAULT_DIAL_RULES, mayDial, type DialRules } from '@causeway/ipam';
import type { NameResolver } from './name-resolver';

/** The addresses of a host (a name, or an address itself) that proxies may dial. */
export interface HostAddresses {
  readonly addresses: readonly string[];
  /** Addresses that may not be dialled. */
  readonly refused: readonly string[];
  /** The reason why the name has no addresses, or no current ones. */
  readonly failure?: string;
  /** Set until the first answer. */
  readonly isPending?: true;
}

/** A source of the addresses of hosts that announces changes. */
export interface HostSource {
  resolve(host: string): HostAddresses;
  /** Replaces the set of names that are resolved. */
  keep(names: Iterable<string>): void;
  /** Calls `listener` with each name whose state changed, until the returned function is called. */
  subscribe(listener: (name: string) => void): () => void;
}

/**
 * Filters addresses of hosts by the dial rules. The rules apply to literal addresses and to each DNS answer: a name that later resolves to loopback,
 * for example, loses its addresses.
 */
export class DialledHosts implements HostSource {
  constructor(
    private readonly rules: DialRules,
    /** Without a resolver, names have no addresses. */
    private readonly resolver?: Pick<NameResolver, 'of' | 'keep' | 'subscribe'>,
  ) {}

  resolve(host: string): HostAddresses {
    if (isIP(host) !== 0) return this.checked([host]);
    const { addresses, ...more } = this.resolver?.of(host) ?? { addresses: [], failure: 'names are not resolved here' };
    return { ...this.checked(addresses), ...more };
  }

  keep(names: Iterable<string>): void {
    this.resolver?.keep(names);
  }

  subscribe(listener: (name: string) => void): () => void {
    return this.resolver?.subscribe(listener) ?? (() => undefined);
  }

  private checked(found: readonly string[]): HostAddresses {
    const addresses = found.filter((each) => mayDial(this.rules, each));
    return { addresses, refused: found.filter((each) => !addresses.includes(each)) };
  }
}

/** The host names in use, and a counter that grows when one comes or goes. */
export interface HostNames {
  readonly hostsVersion: number;
  hostNames(): Iterable<string>;
}

/** Keeps exactly the names in use resolved in a source. */
export class KeptHosts {
  private kept: { readonly of: HostNames; readonly version: number } | undefined;

  constructor(readonly source: HostSource) {}

  /** Resolves the names of `of` and no others. Costs nothing if they are unchanged. */
  keepOnly(of: HostNames): void {
    const version = of.hostsVersion;
    if (this.kept?.of === of && this.kept.version === version) return;
    this.kept = { of, version };
    this.source.keep(of.hostNames());
  }
}

/** A source with the default dial rules: literal addresses only; names have none. */
export const LITERAL_HOSTS: HostSource = new DialledHosts(DEFAULT_DIAL_RULES);
