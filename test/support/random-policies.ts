import fc from 'fast-check';
import { policyDefinition, PolicyTable } from '@causeway/policies';
import { type DefinitionSpec } from '@causeway/policies/testing';
import { identityKey, type Identity, type JsonObject, type Labels } from '@causeway/resources';
import { BindingTable, type ChangeSet, type RouteSpec } from '@causeway/routing';

const semantics = 'colours it';
const group = 'policies.example.com';
const mergeStrategies = ['AtomicDefaults', 'AtomicOverrides', 'PatchDefaults', 'PatchOverrides'] as const;
const top = [
  { kind: 'Mesh', semantics },
  { kind: 'Namespace', semantics },
];

/** One kind of policy for each side of the graph and each rule about namespaces. */
export const trialKinds: Readonly<Record<string, DefinitionSpec>> = {
  RulePolicy: {
    group,
    kind: 'RulePolicy',
    hierarchy: ['Mesh', 'Namespace', 'Service', 'ServicePort', 'Route', 'Rule'],
    declaredTargets: [...top, { kind: 'MeshService', semantics }, { kind: 'HTTPRoute', semantics }],
    effectiveTarget: { level: 'Rule', semantics },
    mergeStrategies,
    crossNamespace: 'ClientSide',
  },
  BackendPolicy: {
    group,
    kind: 'BackendPolicy',
    hierarchy: ['Mesh', 'Namespace', 'Backend', 'BackendPort'],
    declaredTargets: [...top, { kind: 'MeshService', facet: 'backend', semantics }],
    effectiveTarget: { level: 'BackendPort', semantics },
    mergeStrategies,
    crossNamespace: 'ReferenceGrant',
  },
  ThroughPolicy: {
    group,
    kind: 'ThroughPolicy',
    hierarchy: ['Gateway', 'Route', 'Backend'],
    declaredTargets: [
      { kind: 'Gateway', semantics },
      { kind: 'HTTPRoute', semantics },
      { kind: 'MeshService', facet: 'backend', semantics },
    ],
    effectiveTarget: { level: 'Backend', semantics },
    mergeStrategies,
  },
  DirectPolicy: {
    group,
    kind: 'DirectPolicy',
    hierarchy: ['Backend'],
    declaredTargets: [{ kind: 'MeshService', facet: 'backend', semantics }],
    effectiveTarget: { level: 'Backend', semantics },
    crossNamespace: 'ClientSide',
  },
};

/** Something stored, by its identity. */
export type Stored =
  | { readonly type: 'service'; readonly id: Identity; readonly ports: readonly number[]; readonly labels: Labels }
  | { readonly type: 'gateway'; readonly id: Identity; readonly labels: Labels }
  | {
      readonly type: 'route';
      readonly id: Identity;
      readonly spec: RouteSpec;
      readonly labels: Labels;
      readonly order: number;
    }
  | { readonly type: 'grant'; readonly id: Identity }
  | { readonly type: 'namespace'; readonly id: Identity; readonly labels: Labels }
  | { readonly type: 'definition'; readonly id: Identity }
  | { readonly type: 'policy'; readonly id: Identity; readonly spec: JsonObject; readonly order: number };

const NAMESPACES = ['n', 'm'];
const namespace = fc.constantFrom(...NAMESPACES);
/** Most have one name, so that they meet. */
const name = fc.constantFrom('a', 'a', 'a', 'b');
const labels = fc.constantFrom<Labels>({}, { team: 'red' });
const at = (kind: string, where: string, called: string, zone = ''): Identity => ({
  kind,
  mesh: 'default',
  zone,
  namespace: where,
  name: called,
});
const order = fc.integer({ min: 0, max: 3 });
const refTo = (kind: string, where: string, called: string) => ({ kind, namespace: where, name: called });

const service: fc.Arbitrary<Stored> = fc
  .tuple(namespace, name, fc.constantFrom([80], [80, 81]), labels, fc.constantFrom('', 'west'))
  .map(([where, called, ports, has, zone]) => ({
    type: 'service' as const,
    id: at('MeshService', where, called, zone),
    ports,
    labels: has,
  }));
const gateway: fc.Arbitrary<Stored> = fc
  .tuple(namespace, labels)
  .map(([where, has]) => ({ type: 'gateway' as const, id: at('Gateway', where, 'a'), labels: has }));
const rule = fc.record({
  name: fc.constantFrom('one', 'two'),
  to: fc.array(fc.tuple(namespace, name), { maxLength: 2 }),
});
const route: fc.Arbitrary<Stored> = fc
  .record({
    where: namespace,
    called: name,
    parents: fc.array(fc.tuple(fc.constantFrom('MeshService', 'MeshService', 'Gateway'), namespace, name), {
      minLength: 1,
      maxLength: 2,
    }),
    rules: fc.uniqueArray(rule, { maxLength: 2, selector: (one) => one.name }),
    kind: fc.constantFrom('HTTPRoute', 'HTTPRoute', 'TCPRoute'),
    has: labels,
    order,
  })
  .map(({ where, called, parents, rules, kind, has, order: age }) => ({
    type: 'route' as const,
    id: at(kind, where, called),
    labels: has,
    order: age,
    spec: {
      parentRefs: parents.map(([parent, place, other]) => refTo(parent, place, other)),
      rules: rules.map(({ name: of, to }) => ({
        name: of,
        backendRefs: to.map(([place, other]) => ({ ...refTo('MeshService', place, other), port: 80 })),
      })),
    },
  }));

const target = fc
  .record({
    kind: fc.constantFrom('Mesh', 'Namespace', 'MeshService', 'MeshService', 'Gateway', 'HTTPRoute'),
    where: namespace,
    called: name,
    by: fc.constantFrom('name', 'name', 'selector', 'section'),
  })
  .map(({ kind, where, called, by }): JsonObject => {
    if (kind === 'Mesh') return { kind, name: 'default' };
    if (kind === 'Namespace') return { kind, selector: {} };
    const selector = { matchLabels: called === 'a' ? { team: 'red' } : {} };
    const sectionName = kind === 'HTTPRoute' ? 'one' : kind === 'Gateway' ? 'web' : '81';
    if (by === 'selector') return { kind, namespace: where, selector };
    return { kind, namespace: where, name: called, ...(by === 'section' && { sectionName }) };
  });
const values = fc.record({ x: fc.nat(1), y: fc.record({ 'z/1': fc.nat(1), 'w~': fc.nat(1) }, { requiredKeys: [] }) });
/** Policies; those that name another namespace where their kind forbids it are among them, and take no effect. */
const policy: fc.Arbitrary<Stored> = fc
  .record({
    kind: fc.constantFrom('RulePolicy', ...Object.keys(trialKinds)),
    where: namespace,
    called: fc.constantFrom('p', 'q', 'r'),
    targets: fc.uniqueArray(target, { minLength: 1, maxLength: 2, selector: (one) => JSON.stringify(one) }),
    side: fc.constantFrom('defaults', 'overrides'),
    strategy: fc.constantFrom('atomic', 'patch'),
    spec: fc.oneof(values, fc.constant({ y: { 'z/1': 5 } })),
    order,
  })
  .map(({ kind, where, called, targets, side, strategy, spec, order: age }) => ({
    type: 'policy' as const,
    id: at(kind, where, called),
    order: age,
    spec:
      kind === 'DirectPolicy'
        ? { targetRefs: targets, ...spec }
        : { targetRefs: targets, [side]: { ...spec, strategy } },
  }));

/** The definitions of all kinds. */
const definitions: readonly Stored[] = Object.keys(trialKinds).map((kind) => ({
  type: 'definition' as const,
  id: at('MetaresourceDefinition', '', kind),
}));

/** Resources that every test needs: the kinds, and a service in each namespace. */
export const foundation: readonly Stored[] = [
  ...definitions,
  ...NAMESPACES.map((where) => ({
    type: 'service' as const,
    id: at('MeshService', where, 'a'),
    ports: [80, 81],
    labels: {},
  })),
];

/** Anything that a table is told of. */
export const stored: fc.Arbitrary<Stored> = fc.oneof(
  { weight: 4, arbitrary: service },
  { weight: 1, arbitrary: gateway },
  { weight: 4, arbitrary: route },
  { weight: 8, arbitrary: policy },
  {
    weight: 1,
    arbitrary: namespace.map((where) => ({ type: 'grant' as const, id: at('ReferenceGrant', where, 'g') })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(namespace, labels).map(([called, has]) => ({
      type: 'namespace' as const,
      id: { ...at('Namespace', '', called), mesh: '' },
      labels: has,
    })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...definitions),
  },
);

/** Tables of routes and policies, told of each change. */
export class TrialTables {
  readonly routes = new BindingTable({ zone: 'west' });
  readonly table = new PolicyTable(this.routes);

  /** Does a change; returns what the table says of it. */
  write(one: Stored, gone: boolean) {
    return this.table.batch(() => this.apply(one, gone));
  }

  private apply(one: Stored, gone: boolean): void {
    const { table, routes } = this;
    const { id, type } = one;
    const routed = (affected: ChangeSet): void => void table.routesChanged(affected);
    if (type === 'definition') {
      const spec = trialKinds[id.name];
      if (gone) table.removeDefinition(id.name);
      else if (spec) table.setDefinition(policyDefinition(spec));
    } else if (type === 'policy') {
      if (gone) table.removePolicy(id);
      else table.putPolicy({ id, creationOrder: one.order, generation: 1, spec: one.spec });
    } else if (type === 'grant') {
      const from = ['BackendPolicy'].map((kind) => ({ group, kind, namespace: id.namespace === 'n' ? 'm' : 'n' }));
      routed(routes.setGrant(id, gone ? undefined : { id, from, to: [{ group: '', kind: 'Service' }] }));
      table.grantsChanged(id.mesh, id.namespace);
    } else if (type === 'namespace') {
      routed(routes.setNamespace(id.name, gone ? undefined : one.labels));
      table.setNamespace(id.name, gone ? undefined : one.labels);
    } else if (gone) {
      routed(type === 'route' ? routes.removeRoute(id) : routes.removeTarget(id));
      table.removeObject(id);
    } else {
      if (type === 'service') {
        const ports = one.ports.map((port) => ({ port, name: `p${port}` }));
        routed(routes.putService({ id, displayName: id.name, ports, headless: false }));
      } else if (type === 'gateway') {
        const listeners = [{ name: 'web', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } }];
        routed(routes.putGateway({ id, listeners }));
      } else routed(routes.putRoute({ id, creationOrder: one.order, generation: 1, spec: one.spec }));
      table.putObject({ id, labels: one.labels });
    }
  }

  /** The same tables, filled as at the start of a process. */
  static filled(all: Iterable<Stored>): TrialTables {
    const made = new TrialTables();
    made.table.fill(() => {
      for (const one of all) made.apply(one, false);
    });
    for (const _ of made.table.derive());
    return made;
  }
}

/** Puts a resource into the state that a trial ought to have, or takes it out. */
export function keep(state: Map<string, Stored>, one: Stored, gone: boolean): void {
  if (gone) state.delete(identityKey(one.id));
  else state.set(identityKey(one.id), one);
}
