import { isIP } from 'node:net';
import { DEFAULT_DIAL_RULES, mayDial, type DialRules } from '@causeway/ipam';
import type { NameResolver } from './name-resolver';

/** The addresses of a host, a name or an address itself, as proxies may dial them. */
export interface HostAddresses {
  readonly addresses: readonly string[];
  /** Those that may not be dialled. */
  readonly refused: readonly string[];
  /** Why a name has no addresses, or none newer than these. */
  readonly failure?: string;
  /** It was not answered yet. */
  readonly isPending?: true;
}

/** Addresses of hosts. Changes are announced. */
export interface HostSource {
  resolve(host: string): HostAddresses;
  /** Exactly these names are resolved from now on. */
  keep(names: Iterable<string>): void;
  /** Calls `listener` with a name of which something else is known, until the returned function is called. */
  subscribe(listener: (name: string) => void): () => void;
}

/**
 * Hosts by rules of what may be dialled, which hold for addresses and for each answer about a name: a name that leads elsewhere later, to
 * loopback say, loses its addresses then.
 */
export class DialledHosts implements HostSource {
  constructor(
    private readonly rules: DialRules,
    /** Without one names have no addresses. */
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

/** The hosts that are in use, and a number that grows when one comes or goes. */
export interface HostNames {
  readonly hostsVersion: number;
  hostNames(): Iterable<string>;
}

/** Keeps of a source the names that are in use. */
export class KeptHosts {
  private kept: { readonly of: HostNames; readonly version: number } | undefined;

  constructor(readonly source: HostSource) {}

  /** The names of `of`, and no others, are resolved from now on. Costs nothing where they are the same. */
  keepOnly(of: HostNames): void {
    const version = of.hostsVersion;
    if (this.kept?.of === of && this.kept.version === version) return;
    this.kept = { of, version };
    this.source.keep(of.hostNames());
  }
}

/** Addresses by the preset rules; names have none. */
export const LITERAL_HOSTS: HostSource = new DialledHosts(DEFAULT_DIAL_RULES);
