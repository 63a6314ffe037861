import type { FrontendGroup } from './frontend-group';
import type { Condition } from '@causeway/resources';
import type { ParentRef } from '../model';
import type { CompiledRoute } from '../rules/compiled-route';
import { parentRefKey, type ParentRefResult } from './binding';
import { selectGroup, parentTarget, type Frontend, type ParentRefusal, type ParentTarget } from './frontend';
import type { BindingTable } from './binding-table';

/** True if another kind of route won some of the ports that a route names (T002-29). */
const PORT_CONFLICTED = 'causeway.io/PortConflicted';

/** Reason of an implicit route that is not bound, because users wrote routes for its service. */
export const ROUTED_BY_XROUTE = 'RoutedByXRoute';

/** Status of a route for one parent. */
export interface ParentStatus {
  readonly parentRef: ParentRef;
  readonly conditions: readonly Condition[];
}

/**
 * Returns the status entries of a route, one for each parentRef whose kind routes can bind to, in order (T002-04,
 * T002-47). Pure: the same table gives the same entries. Linear in parentRefs × backendRefs × ports.
 */
export function parentStatuses(table: BindingTable, route: CompiledRoute): readonly ParentStatus[] {
  return (route.spec.parentRefs ?? []).flatMap((ref, index) => {
    const target = parentTarget(route.id, ref);
    return target ? [parentStatus(table, route, { ref, index, target })] : [];
  });
}

interface Parent {
  readonly ref: ParentRef;
  readonly index: number;
  readonly target: ParentTarget;
}

function parentStatus(table: BindingTable, route: CompiledRoute, parent: Parent): ParentStatus {
  const { ref, index, target } = parent;
  const group = selectGroup(route.id, target);
  const results = table.listFrontends(target.key).flatMap((frontend): [Frontend, ParentRefResult][] => {
    const result = table.group(frontend, group).results.get(parentRefKey(route, index));
    return result ? [[frontend, result]] : [];
  });
  const condition = (type: string, status: Condition['status'], reason: string, message: string): Condition => ({
    type,
    status,
    reason,
    message,
    observedGeneration: route.generation,
  });
  const refusal = findRefusal(
    results.map(([, result]) => result),
    target,
    route,
  );
  const invalid = describeInvalidRules(route).join('; ');
  const lost = describeLostPorts(results.map(([, result]) => result));
  const resolved = findUnresolvedRef(
    table,
    route,
    group,
    results.flatMap(([, { ports }]) => ports),
  );
  const conditions = [
    refusal
      ? condition('Accepted', 'False', refusal.reason, refusal.message)
      : condition('Accepted', 'True', 'Accepted', acceptedMessage(results, lost)),
    resolved
      ? condition('ResolvedRefs', 'False', resolved.reason, resolved.message)
      : condition('ResolvedRefs', 'True', 'ResolvedRefs', 'all references resolve'),
    ...(refusal || invalid === '' ? [] : [condition('PartiallyInvalid', 'True', 'UnsupportedValue', invalid)]),
    ...(!refusal && lost !== '' ? [condition(PORT_CONFLICTED, 'True', 'Conflicted', lost)] : []),
  ];
  const { sectionName, port } = ref;
  const { kind, namespace } = target;
  const parentRef = {
    group: ref.group ?? (kind === 'Gateway' ? 'gateway.networking.k8s.io' : ''),
    kind: ref.kind ?? 'Gateway',
    namespace,
    name: ref.name,
    ...(sectionName === undefined ? {} : { sectionName }),
    ...(port === undefined ? {} : { port }),
  };
  return { parentRef, conditions };
}

/** Returns why no frontend accepts the route; undefined if one does at any port. */
function findRefusal(
  results: readonly ParentRefResult[],
  { kind, namespace, name }: ParentTarget,
  route: CompiledRoute,
): ParentRefusal | undefined {
  if (results.length === 0) {
    return { reason: 'NoMatchingParent', message: `there is no ${kind} ${namespace}/${name}` };
  }
  if (results.some(({ ports }) => ports.length > 0)) return allForbidden(route);
  const refused = results.find(({ refusal }) => refusal)?.refusal;
  if (!refused && route.implicit) return { reason: ROUTED_BY_XROUTE, message: describeLostPorts(results) };
  return refused ?? { reason: 'Conflicted', message: `RouteReasonConflicted: ${describeLostPorts(results)}` };
}

function describeLostPorts(results: readonly ParentRefResult[]): string {
  const texts = results.flatMap(({ lost }) => lost.map(({ port, winner }) => `port ${port} is taken by a ${winner}`));
  return [...new Set(texts)].join(', ');
}

function acceptedMessage(results: readonly [Frontend, ParentRefResult][], lost: string): string {
  const idle = [...new Set(results.flatMap(([, result]) => result.idle))];
  const older = idle.length > 0 ? `an older route of this kind carries the traffic of port ${idle.join(', ')}` : '';
  return [older, lost].filter((text) => text !== '').join('; ') || 'the route is bound';
}

/** Returns a refusal if a bound route has only rules that answer 500: it is not accepted, but keeps its requests. */
function allForbidden(route: CompiledRoute): ParentRefusal | undefined {
  const isObeyed = route.rules.length === 0 || route.rules.some(({ forbidden }) => forbidden === undefined);
  return isObeyed ? undefined : { reason: 'UnsupportedValue', message: describeInvalidRules(route).join('; ') };
}

/** Describes the rules that are not applied as written, and how each is treated. */
function describeInvalidRules({ rules, dropped }: CompiledRoute): readonly string[] {
  const refused = rules.flatMap(({ name, forbidden }) =>
    forbidden === undefined ? [] : [`Rule ${name} answers 500: ${forbidden}`],
  );
  return [...dropped.map(({ message }) => message), ...refused];
}

/** Returns the first reference that does not resolve at one of the ports, even with weight 0. */
function findUnresolvedRef(
  table: BindingTable,
  route: CompiledRoute,
  group: FrontendGroup,
  ports: readonly number[],
): ParentRefusal | undefined {
  for (const { rule } of route.rules) {
    const lists = [rule.filters ?? [], ...(rule.backendRefs ?? []).map(({ filters = [] }) => filters)];
    const mirrors = lists.flat().flatMap(({ requestMirror }) => (requestMirror ? [requestMirror.backendRef] : []));
    for (const ref of [...(rule.backendRefs ?? []), ...mirrors]) {
      for (const port of new Set(ports.length > 0 ? ports : [0])) {
        const resolved = table.backend(route, ref, port, group);
        if (!resolved.ok) return resolved.unresolved;
      }
    }
  }
  return undefined;
}
