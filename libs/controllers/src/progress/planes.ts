import type { ProxyFacts } from '@causeway/store';

/** How messages name what a connected proxy is, of those that ask a control plane of ours. */
export const planeLabels = {
  grpc: 'gRPC',
  builtin: 'builtin',
  direct: 'direct',
  envoy: 'Envoy',
  egress: 'zone egress',
} as const;
export type ProxyPlane = keyof typeof planeLabels;

/** By the user agent: an agent names its plane behind its version. */
const AGENTS: readonly (readonly [agent: RegExp, plane: ProxyPlane])[] = [
  [/^grpc/i, 'grpc'],
  [/^causeway-agent \S*\+builtin$/, 'builtin'],
  [/^causeway-agent \S*\+direct$/, 'direct'],
];

/** What a proxy is; what is none of the others is an Envoy. An egress passes on bytes, whatever it is made of. */
export function planeOf({
  userAgent,
  kind,
}: Pick<ProxyFacts, 'userAgent'> & Partial<Pick<ProxyFacts, 'kind'>>): ProxyPlane {
  if (kind === 'egress') return 'egress';
  return AGENTS.find(([agent]) => agent.test(userAgent))?.[1] ?? 'envoy';
}
