import { frontendOfVirtualService, Label, type Identity, type JsonObject } from '@causeway/resources';
import type { PortMapping, Protocol, VirtualNodeSpec } from '../model';
import { nodeServiceName, resolveRef } from '../names';
import { listGeneratedPorts } from './compile-node';
import type { CompiledRouter, RouterRule } from './compile-router';
import { buildGenerated, generatePolicy, type Generated } from './generated';

/** Provider of a service: a node, a router with its rules, or none. */
export type Provider =
  | { readonly type: 'node'; readonly id: Identity; readonly spec: VirtualNodeSpec }
  | { readonly type: 'router'; readonly id: Identity; readonly router: CompiledRouter }
  | { readonly type: 'none' };

/** Result of compiling a service. */
export interface CompiledService {
  /** Its frontend in each zone. It is not synced: the routes are known only where the service is. */
  readonly service: Generated;
  /** Its implicit routes and the policies compiled from the router, only where the service was created. */
  readonly rules: readonly Generated[];
}

const ROUTE_KINDS: Readonly<Record<Protocol, 'HTTPRoute' | 'GRPCRoute' | 'TCPRoute'>> = {
  http: 'HTTPRoute',
  http2: 'HTTPRoute',
  grpc: 'GRPCRoute',
  tcp: 'TCPRoute',
};
const GATEWAY_API = 'gateway.networking.k8s.io';

/**
 * Compiles a service: a MeshService with the ports of its provider, and one route for each listener. A listener without
 * rules gets none, and nothing answers there. Without a provider it keeps its former ports, at which requests get 503
 * (T003-15). Without `hostname` it gets no hostname. Linear in the provider's rules.
 */
export function compileService(id: Identity, hostname: string | undefined, provider: Provider): CompiledService {
  const name = frontendOfVirtualService(id.name);
  const ports =
    provider.type !== 'none' && listGeneratedPorts(listPortMappings(provider).map((portMapping) => ({ portMapping })));
  const labels = hostname === undefined ? {} : { [Label.awsName]: hostname };
  const spec = { ...(ports && { ports }), export: { mode: 'None' } };
  return {
    service: buildGenerated(id, { kind: 'MeshService', name, from: 'VirtualService' }, spec, labels),
    rules:
      provider.type === 'none'
        ? []
        : distinct(listPortMappings(provider)).flatMap((one) => compileDefaultRoute(id, one, provider)),
  };
}

function listPortMappings(provider: Exclude<Provider, { type: 'none' }>): readonly PortMapping[] {
  return provider.type === 'node'
    ? (provider.spec.listeners ?? []).map(({ portMapping }) => portMapping)
    : provider.router.listeners.map(({ listener }) => listener);
}

/** Of two listeners with one port only the first is used, like for the ports of its MeshService. */
const distinct = (listeners: readonly PortMapping[]): readonly PortMapping[] =>
  listeners.filter(({ port }, i) => listeners.findIndex((one) => one.port === port) === i);

function compileDefaultRoute(
  id: Identity,
  { port, protocol }: PortMapping,
  provider: Exclude<Provider, { type: 'none' }>,
): readonly Generated[] {
  const kind = ROUTE_KINDS[protocol];
  const frontend = frontendOfVirtualService(id.name);
  const name = `${frontend}-${port}`;
  const rules = rulesAt(port, provider);
  if (rules.length === 0) return [];
  const parentRefs = [{ group: 'kuma.io', kind: 'MeshService', name: frontend, port }];
  const spec = {
    parentRefs,
    rules: rules.map(({ section, rule, targets }) => ({
      name: section,
      ...rule,
      backendRefs: targets.map(({ virtualNodeRef, weight, port: targetPort }) => {
        const node = resolveRef(provider.id, virtualNodeRef);
        const backend = {
          group: 'kuma.io',
          kind: 'MeshService',
          namespace: node.namespace,
          name: nodeServiceName(node.name),
        };
        return { ...backend, weight, ...(targetPort === undefined ? {} : { port: targetPort }) };
      }),
    })),
  };
  const policies = rules.flatMap(({ section, timeout, retry }) => {
    const target = { group: GATEWAY_API, kind, name, sectionName: section };
    const policy = (policyKind: string, policySpec: JsonObject | undefined): readonly Generated[] =>
      policySpec === undefined
        ? []
        : [
            generatePolicy(
              id,
              { kind: policyKind, name: `${name}-${section}`, from: 'VirtualService' },
              target,
              policySpec,
            ),
          ];
    return [...policy('TimeoutPolicy', timeout), ...policy('RetryPolicy', retry)];
  });
  return [buildGenerated(id, { kind, name, from: 'VirtualService' }, spec), ...policies];
}

type RuleParts = Pick<RouterRule, 'section' | 'rule' | 'targets' | 'timeout' | 'retry'>;

/** Returns the rules at a port; a node as provider receives all requests (T003-17). */
function rulesAt(port: number, provider: Exclude<Provider, { type: 'none' }>): readonly RuleParts[] {
  if (provider.type === 'router')
    return provider.router.listeners.find(({ listener }) => listener.port === port)?.rules ?? [];
  const virtualNodeRef = { namespace: provider.id.namespace, name: provider.id.name };
  return [{ section: 'node', rule: {}, targets: [{ virtualNodeRef, weight: 1, port }] }];
}
