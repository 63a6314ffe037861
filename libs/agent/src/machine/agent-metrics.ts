import { BuiltinPlane } from '../builtin/builtin-plane';
import { formatPrometheus } from '../builtin/stats';
import type { NetworkStatus } from '../capture/machine-network';
import { EnvoyPlane } from '../envoy/envoy-plane';
import { formatNodeId, type MachineProxy } from './machine-proxy';

/** Metric of the agent: a counter if its name ends with `_total`, else a gauge. */
interface AgentMetric<T> {
  readonly name: string;
  readonly help: string;
  /** Undefined: the metric is left out. */
  readonly read: (of: T) => number | undefined;
}

/** Metrics of the machine's network. */
export const NETWORK: readonly AgentMetric<NetworkStatus>[] = [
  {
    name: 'network_ready',
    help: 'Whether the rules and routes of the machine are installed',
    read: ({ problem }) => Number(problem === undefined),
  },
  {
    name: 'network_restored_total',
    help: 'Number of times that removed or changed rules or routes were restored',
    read: ({ restored }) => restored,
  },
];

/** Metrics of each proxy of the machine. */
export const PROXY: readonly AgentMetric<MachineProxy>[] = [
  {
    name: 'connected',
    help: 'Whether a control plane is connected',
    read: ({ controlPlane }) => Number(controlPlane?.type === 'connected'),
  },
  {
    name: 'plane_serving',
    help: 'Whether the dataplane serves',
    read: ({ plane }) => Number(plane.state.type === 'serving'),
  },
  {
    name: 'plane_unobeyed',
    help: 'Features that policies and routes ask for and the dataplane does not support',
    read: ({ plane }) => plane.unsupported?.filter(({ isInherent }) => isInherent !== true).length ?? 0,
  },
  {
    name: 'refused_parts',
    help: 'Resources that the machine refuses, and resources with hosts that it does not dial',
    read: ({ refused }) => refused.length,
  },
  {
    name: 'plane_processes',
    help: 'Processes of the builtin plane',
    read: ({ plane }) => plane.processes?.pids.length,
  },
  {
    name: 'plane_process_restarts_total',
    help: 'Processes that ended and were started again',
    read: ({ plane }) => plane.processes?.restarts,
  },
  {
    name: 'plane_addresses',
    help: 'Ports of virtual IPs that the plane direct translates to endpoints',
    read: ({ plane }) => plane.rules?.addresses,
  },
  {
    name: 'plane_slots',
    help: 'Slots in the maps of the plane direct, in proportion to weights',
    read: ({ plane }) => plane.rules?.slots,
  },
  {
    name: 'plane_refusals_total',
    help: 'Changes of the plane direct that the kernel refused',
    read: ({ plane }) => plane.rules?.refusals,
  },
  {
    name: 'plane_restored_total',
    help: 'Number of times that removed rules of the plane direct were restored',
    read: ({ plane }) => plane.rules?.restored,
  },
  { name: 'cache_bytes', help: 'Size of cached resources, bytes', read: ({ cache }) => cache.size.bytes },
  {
    name: 'certificate_end_seconds',
    help: 'When the certificate ends, seconds since 1970',
    read: ({ certificate }) => certificate && certificate.notAfter / 1_000,
  },
];

/** Prefix of the agent's metrics. */
export const PREFIX = 'causeway_agent_';

/** Renders the agent's metrics of these proxies, with the dataplane's own metrics of `one`. */
export async function renderMetrics(one: MachineProxy | undefined, proxies: readonly MachineProxy[]): Promise<string> {
  const labelled = proxies.map((proxy) => [`{proxy="${formatNodeId(proxy.plan)}"}`, proxy] as const);
  return [...formatLines(PROXY, labelled), one ? await readPlaneMetrics(one) : ''].join('\n');
}

/** Renders the metrics of the machine's network. */
export function renderNetworkMetrics(network: NetworkStatus): string {
  return formatLines(NETWORK, [['', network]]).join('\n');
}

async function readPlaneMetrics({ plane }: MachineProxy): Promise<string> {
  if (plane instanceof EnvoyPlane) return plane.metrics().catch(() => '');
  return plane instanceof BuiltinPlane ? formatPrometheus(await plane.stats()) : '';
}

function formatLines<T>(
  metrics: readonly AgentMetric<T>[],
  all: readonly (readonly [labels: string, of: T])[],
): readonly string[] {
  return metrics.flatMap(({ name, help, read }) => [
    `# HELP ${PREFIX}${name} ${help}.`,
    `# TYPE ${PREFIX}${name} ${name.endsWith('_total') ? 'counter' : 'gauge'}`,
    ...all.flatMap(([labels, of]) => {
      const value = read(of);
      return value === undefined ? [] : [`${PREFIX}${name}${labels} ${value}`];
    }),
  ]);
}
