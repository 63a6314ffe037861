import type { ShapedBy } from '@causeway/api';
import type { Effective, PolicyTable } from '@causeway/policies';
import { compareText, identityKey, type Identity, parseIdentityKey } from '@causeway/resources';
import {
  looksIntoRequests,
  PRODUCER,
  type Explanation,
  type RouteQuestion,
  consumerGroup,
  gatewayGroup,
} from '@causeway/routing';
import { listBackends, type Backend } from './request-backends';

/**
 * Returns the effect of the policies of each kind on an explained request: once for its rule, and once for each backend
 * of a share of equal requests. Linear in the kinds and backends.
 */
export function policiesOfRequest(
  table: PolicyTable,
  { client, frontend, port }: RouteQuestion,
  explained: Explanation,
): readonly ShapedBy[] {
  const group =
    'gateway' in client
      ? gatewayGroup(client.gateway)
      : client.namespace === frontend.namespace
        ? PRODUCER
        : consumerGroup(client.namespace);
  const at = { frontend: frontend.id, port, group, ...findRule(explained) };
  const consumer = 'gateway' in client ? {} : { consumer: client.namespace };
  const backends = distinct(listBackends(explained));
  return [...table.all()]
    .sort((a, b) => compareText(a.definition.kind, b.definition.kind))
    .flatMap(({ definition: { kind }, policies: { hierarchyPaths } }): readonly ShapedBy[] => {
      if (hierarchyPaths.side === 'place') return [];
      const isAtRule =
        hierarchyPaths.side === 'route' && !hierarchyPaths.has('Backend') && !hierarchyPaths.has('BackendPort');
      if (isAtRule) return shapedBy(kind, table.effectiveOfRule(kind, at));
      return backends.flatMap((backend) => {
        const effective =
          hierarchyPaths.side === 'backend'
            ? table.effectiveOfBackend(kind, { ...backend, ...consumer })
            : table.effectiveOfRule(kind, { ...at, backend });
        const { kind: of, zone, namespace, name } = backend.service;
        return shapedBy(kind, effective, { service: { kind: of, zone, namespace, name }, port: backend.port });
      });
    });
}

function shapedBy(
  kind: string,
  effective: Effective | undefined,
  backend?: NonNullable<ShapedBy['backend']>,
): readonly ShapedBy[] {
  if (!effective) return [];
  const fields = [...effective.sources].map(([field, { policy, strategy }]) => {
    const { namespace, name } = parseIdentityKey(policy);
    return { field, policy: `${namespace}/${name}`, strategy };
  });
  return [{ kind, ...(backend ? { backend } : {}), effective: effective.spec, fields }];
}

/** Returns the rule that decided; for connections the first of the route that carries all. */
function findRule({ binding, entry }: Explanation): { readonly route?: Identity; readonly rule?: string } {
  if (entry) return { route: entry.route.id, rule: entry.rule.name };
  const [route] = binding?.routes ?? [];
  if (!route || looksIntoRequests(route.kind)) return {};
  const [rule] = route.rules;
  return { route: route.id, ...(rule ? { rule: rule.name } : {}) };
}

/** Returns each service and port once, for any form of the request. */
function distinct(backends: readonly Backend[]): readonly Pick<Backend, 'service' | 'port'>[] {
  const found = new Map(
    backends.map(({ service, port }) => [`${identityKey(service)} ${port}`, { service, port }] as const),
  );
  return [...found.values()];
}
