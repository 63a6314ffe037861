import { escapedLine } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { OnDemandUse } from '../builtin/on-demand-listeners';
import type { NetworkStatus } from '../capture/machine-network';
import { formatQualifiedName } from '../config/qualified-name';
import type { Plane, PlaneProcessesState, PlaneRules, PlaneState, UnsupportedFeature } from '../plane';
import type { MachineProxy } from './machine-proxy';

/** Output of `causeway-agent status`; times in ms since 1970. */
export interface AgentStatus {
  readonly version: string;
  readonly pid: number;
  readonly since: number;
  readonly state: 'running' | 'draining';
  readonly configuration: {
    readonly file?: string;
    /** Problems of the newest file; while there are any, the former one is in use. */
    readonly problems: readonly string[];
    /** Parts of the configuration that failed. */
    readonly failures: readonly string[];
  };
  readonly zone: { readonly addresses: readonly string[]; readonly problem?: string };
  readonly proxies: readonly ProxyStatusHere[];
  /** Address of the DNS server; absent if it does not run. */
  readonly dns?: string;
  /** Packet filter rules and routes that the agent installed on its machine. */
  readonly network?: NetworkStatus;
}

export interface ProxyStatusHere {
  readonly type: 'dataplane' | 'ingress';
  readonly mesh: string;
  /** Namespace of a Dataplane. */
  readonly namespace?: string;
  readonly name: string;
  readonly controlPlane:
    | { readonly type: 'connected'; readonly address: string; readonly since: number }
    | { readonly type: 'connecting'; readonly failure?: string };
  readonly plane: PlaneState & {
    readonly is: Plane['type'];
    readonly pid?: number;
    readonly rules?: PlaneRules;
    readonly processes?: PlaneProcessesState;
    readonly unobeyed?: UnsupportedStatus;
  };
  /** Virtual IPs at which the plane listens when they are used. */
  readonly onDemand?: OnDemandUse;
  /** Resources of the zone that this machine refuses. */
  readonly refused?: UnsupportedStatus;
  readonly certificate?: { readonly id: string; readonly until: number; readonly hasEnded: boolean };
  readonly lease?: LeaseStatus;
  /** Another Dataplane of this agent whose identity the machine's programs use: `name`, or `name.namespace`. */
  readonly clientDataplane?: string;
  /** Users whose programs use the identity of this Dataplane. */
  readonly clientUsers?: readonly string[];
  readonly services: readonly ServiceStatus[];
  readonly cache: {
    readonly resources: number;
    readonly names: number;
    readonly bytes: number;
    readonly disk: number;
    /** Why a restart would lose the cached resources. */
    readonly failure?: string;
  };
}

/** Unsupported or refused parts: their number, and the first of them. */
interface UnsupportedStatus {
  readonly total: number;
  readonly parts: readonly UnsupportedFeature[];
}

export interface LeaseStatus {
  readonly type: 'waiting' | 'held' | 'refused' | 'other' | 'withdrawn';
  readonly reason?: string;
  readonly since?: number;
}

export interface ServiceStatus {
  readonly name: string;
  readonly port: number;
  /** `unchecked`: no check is configured. */
  readonly health: 'ready' | 'not ready' | 'unchecked';
  readonly check?: string;
  readonly reason?: string;
  readonly since?: number;
}

/** Maximum number of unsupported features in a status. */
const MAX_UNSUPPORTED = 64;
/** Maximum number of these in the text form; the others are counted. */
const MAX_SHOWN = 8;

/** Returns the status of one proxy, except the parts of its lease and services. */
export function readProxyStatus(
  { plan, controlPlane, plane, certificate, cache, refused, onDemand }: MachineProxy,
  clock: Clock,
): Omit<ProxyStatusHere, 'lease' | 'clientDataplane' | 'clientUsers' | 'services'> {
  const { diskFailure } = cache;
  const { unsupported: unobeyed = [] } = plane;
  const pid = 'pid' in plane && typeof plane.pid === 'number' ? plane.pid : undefined;
  return {
    type: plan.type,
    mesh: plan.mesh,
    name: plan.name,
    ...(plan.namespace !== undefined && { namespace: plan.namespace }),
    controlPlane:
      controlPlane?.type === 'connected'
        ? controlPlane
        : { type: 'connecting', ...(controlPlane?.failure !== undefined && { failure: controlPlane.failure }) },
    plane: {
      ...plane.state,
      is: plane.type,
      ...(pid !== undefined && { pid }),
      ...(plane.rules && { rules: plane.rules }),
      ...(plane.processes && { processes: plane.processes }),
      ...(unobeyed.length > 0 && { unobeyed: { total: unobeyed.length, parts: unobeyed.slice(0, MAX_UNSUPPORTED) } }),
    },
    ...(certificate && {
      certificate: {
        id: certificate.uri,
        until: certificate.notAfter,
        hasEnded: certificate.notAfter <= clock.now(),
      },
    }),
    ...(onDemand && { onDemand: onDemand.use }),
    ...(refused.length > 0 && { refused: { total: refused.length, parts: refused.slice(0, MAX_UNSUPPORTED) } }),
    cache: { ...cache.size, ...(diskFailure !== undefined && { failure: diskFailure }) },
  };
}

/** Formats a status for people. Untrusted text never begins a line. */
export function formatStatus(status: AgentStatus, now: number): string {
  const { version, pid, since, state, configuration, zone, proxies } = status;
  const lines = [`causeway-agent ${version}, ${state}, pid ${pid}, for ${formatSpan(now - since)}`];
  for (const problem of configuration.problems) lines.push(`configuration not in use: ${problem}`);
  for (const failure of configuration.failures) lines.push(`not done: ${failure}`);
  if (zone.problem !== undefined) lines.push(`zone: ${zone.problem}`);
  if (status.network) lines.push(...formatNetwork(status.network, now));
  if (status.dns !== undefined) lines.push(`names are answered at ${status.dns}`);
  for (const proxy of proxies) lines.push('', ...formatProxy(proxy, now));
  return lines.map(escapedLine).join('\n');
}

const CAPTURES = {
  redirect: 'are led to the proxy',
  listen: 'are local: the proxy listens at each virtual IP',
  translate: 'are translated to endpoints',
};

function formatNetwork({ capture, guarded, problem, restored, restoredAt }: NetworkStatus, now: number) {
  const lines = problem === undefined ? [] : [`not done: network of the machine: ${problem}`];
  if (capture) lines.push(`connections to ${capture.ranges.join(', ')} ${CAPTURES[capture.type]}`);
  if (guarded.length > 0) lines.push(`only the proxy reaches port ${guarded.join(', ')}`);
  for (const part of formatRestored({ restored, restoredAt }, now))
    lines.push(`somebody removed or changed rules or routes: ${part}`);
  return lines;
}

function formatProxy(proxy: ProxyStatusHere, now: number): readonly string[] {
  const { type, mesh, namespace, name, controlPlane, plane, certificate, lease, clientDataplane, clientUsers } = proxy;
  const rows: (readonly [string, string])[] = [
    ['zone', formatZone(controlPlane, now)],
    [
      'plane',
      [`${plane.is}${plane.version === undefined ? '' : ` ${plane.version}`}`, plane.type, plane.reason]
        .filter((part) => part !== undefined)
        .join(', '),
    ],
  ];
  if (plane.rules) rows.push(['rules', formatRules(plane.rules, now)]);
  if (plane.processes) rows.push(['processes', formatProcesses(plane.processes)]);
  if (proxy.onDemand)
    rows.push([
      'listening',
      `at ${proxy.onDemand.bound} addresses of services that are used, of at most ${proxy.onDemand.max}`,
    ]);
  if (proxy.refused) rows.push(...formatParts('refused', proxy.refused));
  if (plane.unobeyed) rows.push(...formatParts('not obeyed', plane.unobeyed));
  if (lease) rows.push(['lease', [lease.type, lease.reason].filter((part) => part !== undefined).join(': ')]);
  if (clientDataplane !== undefined)
    rows.push(['clients', `programs of this machine call as Dataplane ${mesh}/${clientDataplane}`]);
  if (type === 'dataplane')
    rows.push([
      'certificate',
      certificate
        ? `${certificate.id} ${certificate.hasEnded ? 'ended' : 'until'} ${new Date(certificate.until).toISOString()}`
        : 'none yet',
    ]);
  if (clientUsers) rows.push(['clients', `programs of the users ${clientUsers.join(', ')}`]);
  const { resources, bytes, failure } = proxy.cache;
  rows.push([
    'cache',
    `${resources} resources, ${bytes} bytes${failure === undefined ? '' : `; not on disk: ${failure}`}`,
  ]);
  for (const { name: service, port, health, check, reason } of proxy.services) {
    const why = [check, reason].filter((part) => part !== undefined && part !== '').join(': ');
    rows.push([`service ${service}`, `port ${port}, ${health}${why === '' ? '' : ` (${why})`}`]);
  }
  const width = Math.max(...rows.map(([title]) => title.length));
  const title =
    type === 'ingress'
      ? `ingress ${name}`
      : `Dataplane ${mesh}/${formatQualifiedName({ name, ...(namespace !== undefined && { namespace }) })}`;
  return [title, ...rows.map(([row, text]) => `  ${row.padEnd(width)}  ${text}`)];
}

function formatProcesses({ pids, restarts }: PlaneProcessesState): string {
  const again = restarts === 0 ? '' : `, started again ${formatTimes(restarts)}`;
  return `${pids.length} (pid ${pids.join(', ')})${again}`;
}

function formatParts(title: string, { total, parts }: UnsupportedStatus): readonly (readonly [string, string])[] {
  const rows = parts.slice(0, MAX_SHOWN).map(({ name, what }) => [title, `${name}: ${what}`] as const);
  return total > rows.length ? [...rows, [title, `and ${total - rows.length} more`]] : rows;
}

function formatRules({ addresses, lost, loadedAt, failure, refusals, ...of }: PlaneRules, now: number): string {
  return [
    `${addresses} address:port of virtual IPs lead to endpoints`,
    ...(lost === 0 ? [] : [`${lost} not, or not to all of theirs`]),
    ...(loadedAt === undefined ? [] : [`loaded ${formatSpan(now - loadedAt)} ago`]),
    ...formatRestored(of, now),
    ...(refusals === 0 ? [] : [`${formatTimes(refusals)} refused by the kernel`]),
    ...(failure === undefined ? [] : [failure]),
  ].join(', ');
}

function formatRestored(
  { restored, restoredAt }: { readonly restored: number; readonly restoredAt?: number | undefined },
  now: number,
): readonly string[] {
  return restoredAt === undefined
    ? []
    : [`put back ${formatTimes(restored)}, last ${formatSpan(now - restoredAt)} ago`];
}

function formatTimes(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

function formatZone(controlPlane: ProxyStatusHere['controlPlane'], now: number): string {
  if (controlPlane.type === 'connected')
    return `connected to ${controlPlane.address} for ${formatSpan(now - controlPlane.since)}`;
  return `not connected${controlPlane.failure === undefined ? '' : `: ${controlPlane.failure}`}`;
}

/** Formats a duration in its two largest units. */
function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return `${days}d${hours}h`;
  if (hours > 0) return `${hours}h${minutes}m`;
  return minutes > 0 ? `${minutes}m${seconds % 60}s` : `${seconds}s`;
}
