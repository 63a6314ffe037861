import { PolicyTable, policyDefinition } from '@causeway/policies';
import { type DefinitionSpec, type StoredPolicy } from '@causeway/policies/testing';
import type { Identity, JsonObject, Labels } from '@causeway/resources';
import { BindingTable, type ChangeSet, type RouteRule } from '@causeway/routing';

const identity = (kind: string, name: string, namespace: string): Identity => ({
  kind,
  mesh: 'default',
  zone: '',
  namespace,
  name,
});

/** A table of routes and one of policies over it, kept in step, with names in namespace `ns` by default. */
export class PolicyGraph {
  readonly routes: BindingTable;
  readonly table: PolicyTable;

  constructor(readonly zone = '') {
    this.routes = new BindingTable({ zone });
    this.table = new PolicyTable(this.routes);
  }

  define(spec: DefinitionSpec): this {
    this.table.setDefinition(policyDefinition(spec));
    return this;
  }

  service(name: string, { namespace = 'ns', ports = [80], labels = {}, zone = '' }: ServiceTraits = {}): Identity {
    const id = { ...identity('MeshService', name, namespace), zone };
    const named = ports.map((port) => ({ port, name: `p${port}` }));
    this.followed(this.routes.putService({ id, displayName: name, ports: named, headless: false }));
    this.table.putObject({ id, labels });
    return id;
  }

  gateway(name: string, { namespace = 'ns', labels = {} }: Omit<RouteTraits, 'order'> = {}): Identity {
    const id = identity('Gateway', name, namespace);
    const listeners = [{ name: 'web', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } }];
    this.followed(this.routes.putGateway({ id, listeners }));
    this.table.putObject({ id, labels });
    return id;
  }

  /** A route bound to `parents`; each of `rules` sends to the services that it lists. */
  route(
    name: string,
    parents: readonly Identity[],
    rules: readonly TrialRule[],
    { namespace = 'ns', labels = {}, order = 1 }: RouteTraits = {},
  ): Identity {
    const id = identity('HTTPRoute', name, namespace);
    const parentRefs = parents.map((parent) => ({ kind: parent.kind, namespace: parent.namespace, name: parent.name }));
    const spec = { parentRefs, rules: rules.map(ruleOf) };
    this.followed(this.routes.putRoute({ id, creationOrder: order, generation: 1, spec }));
    this.table.putObject({ id, labels });
    return id;
  }

  remove(id: Identity): void {
    this.followed(id.kind.endsWith('Route') ? this.routes.removeRoute(id) : this.routes.removeTarget(id));
    this.table.removeObject(id);
  }

  /** A policy of `kind`; the later it is made, the younger it is. */
  policy(kind: string, name: string, spec: JsonObject, { namespace = 'ns', order = ++this.made } = {}): string {
    const id = identity(kind, name, namespace);
    const stored: StoredPolicy = { id, creationOrder: order, generation: 1, spec };
    this.table.putPolicy(stored);
    return this.key(kind, name, namespace);
  }
  private made = 0;

  removePolicy(kind: string, name: string, namespace = 'ns'): void {
    this.table.removePolicy(identity(kind, name, namespace));
  }

  key(kind: string, name: string, namespace = 'ns'): string {
    return `${kind}/default//${namespace}/${name}`;
  }

  private followed(affected: ChangeSet): void {
    this.table.routesChanged(affected);
  }
}

export interface TrialRule {
  readonly name?: string;
  readonly to: readonly Identity[];
  readonly path?: string;
}

interface ServiceTraits {
  readonly namespace?: string;
  readonly ports?: readonly number[];
  readonly labels?: Labels;
  readonly zone?: string;
}

interface RouteTraits {
  readonly namespace?: string;
  readonly labels?: Labels;
  readonly order?: number;
}

const ruleOf = ({ name, to, path }: TrialRule): RouteRule => ({
  ...(name !== undefined && { name }),
  ...(path !== undefined && { matches: [{ path: { type: 'PathPrefix', value: path } }] }),
  backendRefs: to.map((backend) => ({
    kind: backend.kind,
    namespace: backend.namespace,
    name: backend.name,
    port: 80,
  })),
});

/** The reference from a policy to an object. */
export const targetRef = ({ kind, name }: Identity, sectionName?: string): JsonObject => ({
  kind,
  name,
  ...(sectionName !== undefined && { sectionName }),
});
