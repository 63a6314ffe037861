import { identityKey, type Identity, type JsonObject } from '@causeway/resources';
import {
  PRODUCER,
  type Frontend,
  consumerGroup,
  isGatewayGroup,
  OWN_BACKEND,
  type FrontendGroup,
} from '@causeway/routing';
import type { Fold, FieldSources } from '../fold/fold';
import type { Policy } from '../model/policy';
import { createContext, type Context } from './contexts';
import type { KindTable } from './kind-table';
import { frontendNode, routeNode, type Node } from './nodes';
import { isBoundAt } from './hierarchy-paths';
import type { TargetIndex } from './target-index';

/** Effective spec at the end of a path, and the source of each value, by JSON pointer. */
export interface Effective {
  readonly spec: JsonObject;
  readonly sources: FieldSources;
}

/** A rule of a route for requests to a frontend; without a route, the service itself. */
export interface RuleAt {
  readonly frontend: Identity;
  readonly port: number;
  /** A group of routing: `producer`, `consumer:<namespace>`, `gateway:<namespace>/<name>`. */
  readonly group: FrontendGroup;
  readonly route?: Identity;
  readonly rule?: string;
  /** Destination of the rule, for kinds that take effect at backends. */
  readonly backend?: { readonly service: Identity; readonly port: number };
}

/** A port of a service below its own Namespace; `consumer` selects the clients of one namespace. */
export interface BackendAt {
  readonly service: Identity;
  readonly port: number;
  readonly consumer?: string;
}

/** The defined kinds, over one set of targets: a PolicyTable. */
interface Kinds {
  readonly targetIndex: TargetIndex;
  kind(name: string): KindTable | undefined;
  all(): Iterable<KindTable>;
}

/** Selects the policies that apply; default: all. */
export type PolicyFilter = (policy: Policy) => boolean;

/**
 * Returns the effective spec of a kind at a rule; undefined if no policy is on the path. A consumer's group without
 * routes or policies of that namespace is the producer's. Linear in the policies on the path, the first time.
 */
export function effectiveOfRule(
  table: Kinds,
  kind: string,
  at: RuleAt,
  isIncluded?: PolicyFilter,
): Effective | undefined {
  const found = table.kind(kind);
  const frontend = table.targetIndex.frontend(at.frontend);
  if (!found || !frontend || found.policies.attachments.size === 0) return undefined;
  const context = createContext(frontend, groupAt(found, frontend, at));
  return foldAt(found, context, ruleNodes(table, frontend, at), isIncluded);
}

/** Returns the group that applies for a kind at a port. */
function groupAt(
  { policies }: KindTable,
  frontend: Frontend,
  { group, port }: Pick<RuleAt, 'group' | 'port'>,
): FrontendGroup {
  const { consumer } = createContext(frontend, group);
  if (consumer === undefined || isBoundAt(policies.targetIndex.routes, frontend, group, port)) return group;
  return policies.listConsumers(frontend).includes(consumer) ? group : PRODUCER;
}

function ruleNodes({ targetIndex }: Kinds, frontend: Frontend, at: RuleAt): Node[] {
  const { port, group, route, rule, backend } = at;
  const nodes: Node[] = [];
  if (isGatewayGroup(group)) {
    nodes.push(frontendNode('Gateway', frontend));
    for (const { port: number, name } of frontend.ports)
      if (number === port) nodes.push(frontendNode('Listener', frontend, name));
  } else nodes.push(frontendNode('Service', frontend), frontendNode('ServicePort', frontend, port));
  if (route) {
    const known = { key: identityKey(route), id: route };
    nodes.push(routeNode('Route', known));
    if (rule !== undefined) nodes.push(routeNode('Rule', known, rule));
  }
  const service = backend && targetIndex.frontend(backend.service);
  if (service) nodes.push(frontendNode('Backend', service), frontendNode('BackendPort', service, backend.port));
  return nodes;
}

/**
 * Returns the effective spec of a kind at a port of a service below its own Namespace; undefined if no policy is on the
 * path. `consumer` selects the clients of one namespace, to which some policies alone may apply.
 */
export function effectiveOfBackend(
  table: Kinds,
  kind: string,
  { service, port, consumer }: BackendAt,
  isIncluded?: PolicyFilter,
): Effective | undefined {
  const found = table.kind(kind);
  const frontend = table.targetIndex.frontend(service);
  if (!found || !frontend || found.policies.attachments.size === 0) return undefined;
  const isOfConsumer = consumer !== undefined && found.policies.listConsumers(frontend).includes(consumer);
  const context = createContext(frontend, isOfConsumer ? consumerGroup(consumer) : OWN_BACKEND);
  const nodes = [frontendNode('Backend', frontend), frontendNode('BackendPort', frontend, port)];
  return foldAt(found, context, nodes, isIncluded);
}

/** Only the levels of the kind's paths count. */
function foldAt(
  { policies }: KindTable,
  context: Context,
  nodes: readonly Node[],
  isIncluded?: PolicyFilter,
): Fold | undefined {
  const path = nodes.filter(({ level }) => level !== 'Virtual' && policies.hierarchyPaths.has(level));
  return policies.effective(context, path, isIncluded);
}

/** Returns the namespaces whose clients have a view of their own of a frontend because of policies of any kind. Sorted. */
export function listConsumers(table: Kinds, frontend: Identity): readonly string[] {
  const found = table.targetIndex.frontend(frontend);
  if (!found) return [];
  const names = new Set([...table.all()].flatMap(({ policies }) => policies.listConsumers(found)));
  return [...names].sort();
}
