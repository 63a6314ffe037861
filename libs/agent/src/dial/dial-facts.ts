import { DEFAULT_DIAL_RULES, mayDial, parseAddress, parseDialRules, type DialRules } from '@causeway/ipam';
import type { LocalAddress } from '../capture/local-address';
import { formatQualifiedName } from '../config/qualified-name';
import type { AgentConfig } from '../config/schema';

/** Service of a Dataplane: where its proxy listens, and its process. */
export interface OwnService {
  readonly at: LocalAddress;
  readonly process: LocalAddress;
}

/**
 * Addresses to which the proxy of one Dataplane, or an ingress, may connect: facts of the machine
 * (docs/reference/agent.md, Where an agent dials). The configuration that a zone sends is applied only within them.
 */
export interface DialFacts {
  /** Address of the Dataplane; undefined for an ingress. */
  readonly address: string | undefined;
  readonly services: readonly OwnService[];
  /** Further addresses at which its proxy listens: explicit outbounds, and the ports for redirected connections. */
  readonly listens: readonly LocalAddress[];
  /** Addresses that are always allowed: services of this machine, and the proxy's re-entry ports. */
  readonly own: readonly LocalAddress[];
  readonly rules: DialRules;
  /** Files that a resource may name, besides that of the proxy's own key. */
  readonly files: readonly string[];
}

/** Parts of a configuration that decide where its proxies dial. */
export type DialConfig = Pick<AgentConfig, 'dataplanes' | 'mayDial'>;

/** Returns the dial rules of a valid configuration. */
function readDialRules({ mayDial: texts }: Pick<AgentConfig, 'mayDial'>): DialRules {
  const parsed = texts && parseDialRules(texts);
  return parsed?.ok ? parsed.rules : DEFAULT_DIAL_RULES;
}

/** Reads the facts of one proxy. `dataplane`: its qualified name; undefined for an ingress. */
export function readDialFacts(
  config: DialConfig,
  {
    dataplane: name,
    redirect,
    authoritiesFile,
  }: {
    readonly dataplane: string | undefined;
    readonly redirect?: { readonly port: number; readonly reentryPort: number } | undefined;
    readonly authoritiesFile: string | undefined;
  },
): DialFacts {
  const dataplane = config.dataplanes.find((one) => formatQualifiedName(one) === name);
  const onLoopback = (port: number): readonly LocalAddress[] =>
    ['127.0.0.1', '::1'].map((address) => ({ address, port }));
  const reentry = redirect ? onLoopback(redirect.reentryPort) : [];
  const all = config.dataplanes.flatMap(listServices);
  return {
    address: dataplane?.address,
    services: dataplane ? listServices(dataplane) : [],
    listens: [
      ...(dataplane?.outbounds.map(({ address, port }) => ({ address, port })) ?? []),
      ...(redirect ? [...onLoopback(redirect.port), ...reentry] : []),
    ],
    own: [...all.flatMap(({ at, process }) => [at, process]), ...reentry],
    rules: readDialRules(config),
    files: authoritiesFile === undefined ? [] : [authoritiesFile],
  };
}

function listServices({ address, services }: AgentConfig['dataplanes'][number]): readonly OwnService[] {
  return services.map(({ port, servicePort = port, serviceAddress }) => ({
    at: { address, port },
    process: { address: serviceAddress, port: servicePort },
  }));
}

/**
 * Returns the process address of a service as the zone knows it. A process at the address of its inbound (mode
 * `direct`) is registered without an address, which the zone reads as loopback; nothing dials it.
 */
export function processAddress({ at, process }: OwnService): LocalAddress {
  return isSameSocketAddress(at, process) ? { address: '127.0.0.1', port: process.port } : process;
}

/** Compares addresses by value, not by their text. */
export function isSameSocketAddress(a: LocalAddress, b: LocalAddress): boolean {
  return a.port === b.port && isSameAddress(a.address, b.address);
}

export function isSameAddress(a: string, b: string): boolean {
  const [first, second] = [parseAddress(a), parseAddress(b)];
  return first !== undefined && first.family === second?.family && first.value === second.value;
}

/** Returns whether an address may be dialled; host names must be resolved before. */
export function mayDialAddress({ own, rules }: Pick<DialFacts, 'own' | 'rules'>, at: LocalAddress): boolean {
  return mayDial(rules, at.address) || own.some((one) => isSameSocketAddress(one, at));
}
