/** Which questions that are not ours go on, and to whom. */
export interface ForwardConfig {
  /** Off: whatever is not ours is refused. */
  readonly enabled: boolean;
  /** `address` or `address:port` (`[v6]:port`); none = those of the resolver configuration. */
  readonly upstreams: readonly string[];
  /** The resolver configuration read where no upstreams are given. */
  readonly resolverFile: string;
  /** Forward for askers outside private and loopback ranges as well: makes this an open resolver. */
  readonly publicAskers: boolean;
  /** ms for one try at one upstream. */
  readonly timeout: number;
  /** Tries for one question, each at the next upstream. */
  readonly tries: number;
  /** Questions under way at once, in all and of one asker. */
  readonly pending: number;
  readonly pendingPerAsker: number;
}

/** What keeps one asker from harming the others. */
export interface DnsLimits {
  /** Questions of one asker in one second; 0 = no limit. */
  readonly ratePerAsker: number;
  readonly tcpConnections: number;
  readonly tcpConnectionsPerAsker: number;
  /** ms without a whole question until a TCP connection is closed. */
  readonly tcpIdle: number;
}

/** How a zone answers names. */
export interface DnsConfig {
  /** How long others may keep an answer, positive or negative; ms, whole seconds are used. */
  readonly ttl: number;
  /** Names at and under these are always ours, besides the literal suffixes of the generators. */
  readonly suffixes: readonly string[];
  /** Ranges of VIPs (CIDR): names of addresses in them are ours and never asked upstream. */
  readonly ranges: readonly string[];
  /** Meshes in the order they are asked when several have one hostname; others follow by name. */
  readonly meshOrder: readonly string[];
  readonly forward: ForwardConfig;
  readonly limits: DnsLimits;
}

export const DEFAULT_DNS_CONFIG: DnsConfig = {
  ttl: 5_000,
  suffixes: ['mesh.local'],
  ranges: [],
  meshOrder: [],
  forward: {
    enabled: true,
    upstreams: [],
    resolverFile: '/etc/resolv.conf',
    publicAskers: false,
    timeout: 1_500,
    tries: 3,
    pending: 500,
    pendingPerAsker: 100,
  },
  limits: { ratePerAsker: 50_000, tcpConnections: 1_000, tcpConnectionsPerAsker: 100, tcpIdle: 10_000 },
};

/** What a caller says; the rest is as in `DEFAULT_DNS_CONFIG`. */
export interface DnsSettings extends Partial<Omit<DnsConfig, 'forward' | 'limits'>> {
  readonly forward?: Partial<ForwardConfig>;
  readonly limits?: Partial<DnsLimits>;
}

/** The whole configuration. */
export function completeDnsConfig(settings: DnsSettings): DnsConfig {
  return {
    ...DEFAULT_DNS_CONFIG,
    ...settings,
    forward: { ...DEFAULT_DNS_CONFIG.forward, ...settings.forward },
    limits: { ...DEFAULT_DNS_CONFIG.limits, ...settings.limits },
  };
}
