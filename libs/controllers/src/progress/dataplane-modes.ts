import type { DataplaneMode } from '@causeway/policies';
import type { ProxyFacts } from '@causeway/store';

/** The mode in which a proxy that connects to a control plane of ours carries traffic. */
export type ZoneDataplaneMode = Exclude<DataplaneMode, 'kuma-dp'>;

/** The names of the modes in messages. */
export const proxyModeLabels: Readonly<Record<ZoneDataplaneMode, string>> = {
  grpc: 'gRPC',
  builtin: 'builtin',
  direct: 'direct',
  envoy: 'Envoy',
  egress: 'zone egress',
};

/** The modes in the order in which messages list them. */
export const proxyModes: readonly ZoneDataplaneMode[] = ['grpc', 'builtin', 'direct', 'envoy', 'egress'];

/** The user agents of modes: an agent appends its dataplane mode to its version. */
const USER_AGENTS: readonly (readonly [agent: RegExp, mode: ZoneDataplaneMode])[] = [
  [/^grpc/i, 'grpc'],
  [/^causeway-agent \S*\+builtin$/, 'builtin'],
  [/^causeway-agent \S*\+direct$/, 'direct'],
];

/** Returns the mode of a proxy by its kind and user agent; Envoy by default. */
export function readDataplaneMode({
  userAgent,
  kind,
}: Pick<ProxyFacts, 'userAgent'> & Partial<Pick<ProxyFacts, 'kind'>>): ZoneDataplaneMode {
  if (kind === 'egress') return 'egress';
  return USER_AGENTS.find(([agent]) => agent.test(userAgent))?.[1] ?? 'envoy';
}
