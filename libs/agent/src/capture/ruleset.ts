import { isIPv6 } from 'node:net';
import { formatArrivals, formatDemandRules, formatDemandSets } from './demand-rules';
import type { IpFamily, LocalAddress } from './local-address';

/** nftables table of an agent, except the maps of mode `direct`. */
export const CAPTURE_TABLE = 'causeway';
/** Routing protocol number of the agent's routes; no Debian daemon uses it. */
export const ROUTE_PROTOCOL = 199;

/** Capture of connections to virtual IPs on this machine. */
export type NetworkCapture =
  /**
   * Redirected to a loopback port, where the proxy reads the original destination: connections of the users in `byUser`
   * to their port, all others to `port`; refused if that is absent.
   */
  | {
      readonly type: 'redirect';
      readonly ranges: readonly string[];
      readonly port?: number;
      readonly byUser?: readonly { readonly users: readonly string[]; readonly port: number }[];
    }
  /**
   * The proxy listens at each virtual IP that is used, made local by a route; first packets to others are noted. Connections of the users `refused`
   * are refused.
   */
  | { readonly type: 'listen'; readonly ranges: readonly string[]; readonly refused?: readonly string[] }
  /** Mode `direct` translates them to endpoints; `sources`: source addresses, at most one per family. */
  | { readonly type: 'translate'; readonly ranges: readonly string[]; readonly sources: readonly string[] };

/** Ports of processes that only the proxy may reach. */
export interface Guard {
  readonly ports: readonly number[];
  /** Addresses at which the proxy itself listens; their port may equal a guarded port of another address. */
  readonly open: readonly LocalAddress[];
  /** Users (uid) whose local connections are accepted: that of the proxy. */
  readonly users: readonly number[];
}

/** Rules and routes to install on a machine. */
export interface NetworkPlan {
  readonly capture?: NetworkCapture;
  /** Ranges that this machine cannot capture, with the reason. */
  readonly uncaught?: { readonly ranges: readonly string[]; readonly reason: string };
  readonly guard?: Guard;
}

const FAMILIES: readonly (IpFamily & { readonly includes: (address: string) => boolean })[] = [
  { ip: 'ip', type: 'ipv4_addr', set: '4', includes: (address) => !isIPv6(parseHost(address)) },
  { ip: 'ip6', type: 'ipv6_addr', set: '6', includes: (address) => isIPv6(parseHost(address)) },
];

/** Returns the comment that marks the tables of an agent instance. */
export function ownerComment(instance: string): string {
  return `causeway-agent ${instance}`;
}

/**
 * Renders the table for `nft -f`, as one transaction that replaces the current table. Undefined if no rule is needed.
 * The rules affect only connections to the plan's ranges and ports.
 */
export function renderRuleset({ capture, guard }: NetworkPlan, instance: string): string | undefined {
  const isGuarding = guard !== undefined && guard.ports.length > 0;
  const isCapturing = capture !== undefined && capture.ranges.length > 0;
  if (!isGuarding && !isCapturing) return undefined;
  const lines = [...(isCapturing ? formatCapture(capture) : []), ...(isGuarding ? formatGuard(guard) : [])];
  return [
    `table inet ${CAPTURE_TABLE}`,
    `delete table inet ${CAPTURE_TABLE}`,
    `table inet ${CAPTURE_TABLE} {`,
    `  comment "${ownerComment(instance)}"`,
    ...lines.map((line) => `  ${line}`),
    '}',
    '',
  ].join('\n');
}

function formatCapture(capture: NetworkCapture): readonly string[] {
  const families = FAMILIES.map((family) => ({ ...family, ranges: capture.ranges.filter(family.includes) }));
  const used = families.filter(({ ranges }) => ranges.length > 0);
  const sets = used.flatMap(({ set, type, ranges }) => formatIntervalSet(`virtual${set}`, type, ranges));
  const rules = (of: (family: IpFamily) => readonly string[]): readonly string[] => used.flatMap(of);
  if (capture.type === 'listen')
    return [
      ...sets,
      ...formatDemandSets(used),
      'chain demand {',
      ...formatDemandRules(used).map((rule) => `  ${rule}`),
      '}',
      ...formatChain(
        'arrive',
        'type filter hook input priority filter',
        rules((family) => formatArrivals(family, 'demand')),
      ),
      ...(capture.refused
        ? formatChain('refuse', 'type filter hook output priority filter', [
            ...rules(({ ip, set }) => [
              `${ip} daddr @virtual${set} meta l4proto tcp ${formatUsers(capture.refused)} reject with tcp reset`,
            ]),
          ])
        : []),
    ];
  const redirect =
    capture.type === 'redirect'
      ? formatChain('connect', 'type nat hook output priority -100', rules(formatRedirects(capture)))
      : [];
  // After address translation: connections that still go to a virtual IP are refused.
  const refuse = formatChain('refuse', 'type filter hook output priority filter', [
    ...rules(({ ip, set }) => [
      `${ip} daddr @virtual${set} meta l4proto tcp reject with tcp reset`,
      `${ip} daddr @virtual${set} reject with icmpx port-unreachable`,
    ]),
  ]);
  return [...sets, ...redirect, ...refuse];
}

function formatRedirects({ port, byUser = [] }: Extract<NetworkCapture, { type: 'redirect' }>) {
  return ({ ip, set }: IpFamily): readonly string[] => {
    const which = `${ip} daddr @virtual${set} meta l4proto tcp`;
    return [
      ...byUser.map((one) => `${which} ${formatUsers(one.users)} redirect to :${one.port}`),
      ...(port === undefined ? [] : [`${which} redirect to :${port}`]),
    ];
  };
}

/** Formats users by number or name; nft resolves names. */
function formatUsers(users: readonly string[] = []): string {
  const all = [...new Set(users)].map((user) => (/^\d+$/.test(user) ? user : `"${user}"`));
  return `meta skuid { ${all.join(', ')} }`;
}

function formatGuard({ ports, open, users }: Guard): readonly string[] {
  const own = FAMILIES.flatMap((family) => {
    const here = open.filter(({ address }) => family.includes(address));
    return here.length === 0 ? [] : [{ ...family, here }];
  });
  const sets = own.flatMap(({ set, type, here }) =>
    formatSet(
      `proxy${set}`,
      `${type} . inet_service`,
      here.map(({ address, port }) => `${address} . ${port}`),
    ),
  );
  const toProxy = own.map(({ ip, set }) => `${ip} daddr . tcp dport @proxy${set} accept`);
  const others = users.length === 0 ? '' : ` meta skuid != { ${sorted(users).join(', ')} }`;
  // Replies of local connections may use the port as well; those have the direction `reply`.
  const refused = 'tcp dport @guarded ct direction original';
  return [
    ...formatSet('guarded', 'inet_service', sorted(ports).map(String)),
    ...sets,
    ...formatChain('guard_remote', 'type filter hook input priority filter', [
      'iif "lo" accept',
      ...toProxy,
      `${refused} reject with tcp reset`,
    ]),
    ...formatChain('guard_local', 'type filter hook output priority filter', [
      ...toProxy,
      `fib daddr type local ${refused}${others} reject with tcp reset`,
    ]),
  ];
}

/** Route for `ip -batch`, of the family of its range. */
export interface CaptureRoute {
  readonly family: '-4' | '-6';
  readonly line: string;
}

/** Lists routes: without them the kernel refuses connections to virtual IPs before any rule applies. */
export function listCaptureRoutes({ capture }: NetworkPlan): readonly CaptureRoute[] {
  if (!capture) return [];
  return capture.ranges.flatMap((range) => {
    if (range.startsWith('127.')) return [];
    const isV6 = range.includes(':');
    const source = formatSource(capture, isV6);
    const type = capture.type === 'listen' ? 'local ' : '';
    const from = source === undefined ? '' : ` src ${source}`;
    const line = `route add ${type}${range} dev lo proto ${ROUTE_PROTOCOL}${from}`;
    return [{ family: isV6 ? ('-6' as const) : ('-4' as const), line }];
  });
}

function formatSource(capture: NetworkCapture, isV6: boolean): string | undefined {
  if (capture.type !== 'translate') return isV6 ? '::1' : '127.0.0.1';
  return capture.sources.find((source) => isIPv6(source) === isV6);
}

function formatIntervalSet(name: string, type: string, ranges: readonly string[]): readonly string[] {
  return [`set ${name} {`, `  type ${type}; flags interval; auto-merge`, `  elements = { ${ranges.join(', ')} }`, '}'];
}

function formatSet(name: string, type: string, values: readonly string[]): readonly string[] {
  return [`set ${name} {`, `  type ${type}`, `  elements = { ${[...new Set(values)].join(', ')} }`, '}'];
}

function formatChain(name: string, hook: string, rules: readonly string[]): readonly string[] {
  return [`chain ${name} {`, `  ${hook}; policy accept;`, ...rules.map((rule) => `  ${rule}`), '}'];
}

function sorted(numbers: readonly number[]): readonly number[] {
  return [...new Set(numbers)].sort((a, b) => a - b);
}

function parseHost(range: string): string {
  return range.split('/')[0] ?? range;
}
