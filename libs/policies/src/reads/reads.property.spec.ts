import fc from 'fast-check';
import { identityKey, isJsonObject, type Identity, type JsonObject, type JsonValue } from '@causeway/resources';
import { PolicyGraph, targetRef } from '../../../../test/support/policy-graph';
import type { DefinitionSpec } from '../model/definition';
import { mergeStrategies, type Level } from '../model/levels';
import { readPolicy } from '../model/read-policy';
import type { KindTable } from '../table/kind-table';
import { computeImpact } from './impact';
import { foldPath, pathsAt, type PolicyPath } from './policy-path';
import { findScopes } from './scopes';

const MESH: Identity = { kind: 'Mesh', mesh: '', zone: '', namespace: '', name: 'default' };
const semantics = 'colours it';

function defined(kind: string, hierarchy: readonly Level[], facet: 'frontend' | 'backend'): DefinitionSpec {
  const has = (level: Level, target: DefinitionSpec['declaredTargets'][number]) =>
    hierarchy.includes(level) ? [target] : [];
  return {
    group: 'policies.example.com',
    kind,
    hierarchy,
    mergeStrategies,
    crossNamespace: 'ClientSide',
    declaredTargets: [
      ...has('Mesh', { kind: 'Mesh', semantics }),
      ...has('Namespace', { kind: 'Namespace', semantics }),
      ...has('Gateway', { kind: 'Gateway', semantics }),
      ...has('Route', { kind: 'HTTPRoute', semantics }),
      ...has(facet === 'frontend' ? 'Service' : 'Backend', { kind: 'MeshService', facet, semantics }),
    ],
    effectiveTarget: { level: hierarchy.at(-1) ?? 'Rule', semantics },
  };
}

const kinds = {
  RulePolicy: defined('RulePolicy', ['Mesh', 'Namespace', 'Service', 'ServicePort', 'Route', 'Rule'], 'frontend'),
  BackendPolicy: defined('BackendPolicy', ['Mesh', 'Namespace', 'Backend', 'BackendPort'], 'backend'),
  ThroughPolicy: defined('ThroughPolicy', ['Gateway', 'Route', 'Backend'], 'backend'),
  PlacePolicy: defined('PlacePolicy', ['Mesh', 'Namespace'], 'frontend'),
};
type KindName = keyof typeof kinds;

/** Services in two namespaces, routes of both, a Gateway: producers, consumers, and services without routes. */
class Trial extends PolicyGraph {
  readonly a = this.service('a', { ports: [80, 81] });
  readonly b = this.service('b');
  readonly c = this.service('c', { namespace: 'other' });
  readonly gate = this.gateway('gate');
  readonly routes1 = this.route('r1', [this.a], [{ to: [this.b] }, { to: [this.b, this.c], path: '/x' }]);
  readonly routes2 = this.route('r2', [this.gate], [{ to: [this.a] }]);
  readonly routes3 = this.route('r3', [this.b], [{ to: [this.b] }], { namespace: 'other' });

  constructor() {
    super();
    for (const name of ['ns', 'other', 'third']) this.table.setNamespace(name, {});
    for (const spec of Object.values(kinds)) this.define(spec);
  }

  get targets(): readonly JsonObject[] {
    const { a, b, c, gate, routes1, routes2, routes3 } = this;
    return [
      { kind: 'Mesh', name: 'default' },
      { kind: 'Namespace', name: '' },
      ...[a, b, c, gate, routes1, routes2, routes3].map((id) => ({ ...targetRef(id), namespace: id.namespace })),
      { ...targetRef(a, '81'), namespace: 'ns' },
      { ...targetRef(routes1, 'rule-1'), namespace: 'ns' },
    ];
  }

  kind(name: KindName): KindTable {
    const found = this.table.kind(name);
    if (!found) throw new Error(`${name} is not defined`);
    return found;
  }
}

interface Written {
  readonly kind: KindName;
  readonly name: string;
  readonly namespace: string;
  readonly target: number;
  readonly strategy: string;
  readonly spec: JsonObject;
}

const values = fc.record({ x: fc.nat(2), y: fc.record({ z: fc.nat(1), w: fc.nat(1) }, { requiredKeys: [] }) });
const written: fc.Arbitrary<Written> = fc.record({
  kind: fc.constantFrom<KindName>('RulePolicy', 'BackendPolicy', 'ThroughPolicy', 'PlacePolicy'),
  name: fc.constantFrom('p', 'q', 's'),
  namespace: fc.constantFrom('ns', 'other', 'third'),
  target: fc.nat(10),
  strategy: fc.constantFrom('defaults', 'overrides', 'defaults patch', 'overrides patch'),
  spec: values,
});

function specOf(trial: Trial, { target, strategy, spec, namespace }: Written): JsonObject {
  const [side = '', granularity = 'atomic'] = strategy.split(' ');
  const ref = trial.targets[target] ?? {};
  const targetRefs = [ref['kind'] === 'Namespace' ? { ...ref, name: namespace } : ref];
  return { targetRefs, [side]: { ...spec, strategy: granularity } };
}

function put(trial: Trial, policy: Written, order?: number): string {
  const { kind, name, namespace } = policy;
  return trial.policy(kind, name, specOf(trial, policy), { namespace, ...(order === undefined ? {} : { order }) });
}

type Views = ReadonlyMap<string, { readonly path: PolicyPath; readonly spec: JsonObject | undefined }>;

/** Returns every path of a kind and its effective spec. */
function viewsOf(kind: KindTable): Views {
  const paths = [...pathsAt(kind, MESH, kind.policies.attachments)];
  return new Map(paths.map((path) => [path.key, { path, spec: foldPath(kind, path)?.spec }]));
}

/** Returns the effective spec of a path for its readers: a missing view is the producer's. */
function seen(views: Views, path: PolicyPath): JsonObject | undefined {
  const own = views.get(path.key);
  if (own || !path.context) return own?.spec;
  const { namespace } = path.context.frontend;
  const below = path.lower.map(({ key }) => key);
  const shared = ['producer', 'backend'].map((group) => [path.mesh, namespace, group, ...below].join('\n'));
  return shared.map((key) => views.get(key)).find((one) => one)?.spec;
}

describe('what policies are asked', () => {
  it('T004-42 `_impact` names exactly the paths that change when the change is made', () => {
    const property = fc.property(fc.array(written, { maxLength: 8 }), written, fc.boolean(), (some, change, gone) => {
      const trial = new Trial();
      for (const policy of some) put(trial, policy);
      const kind = trial.kind(change.kind);
      const key = trial.key(change.kind, change.name, change.namespace);
      const id = { kind: change.kind, mesh: 'default', zone: '', namespace: change.namespace, name: change.name };
      const known = kind.policies.attachments.get(key)?.policy;
      const creationOrder = known?.creationOrder ?? 1_000;
      const candidate = gone
        ? undefined
        : readPolicy(kind.definition, { id, creationOrder, generation: 2, spec: specOf(trial, change) });
      const before = viewsOf(kind);
      const said = [...computeImpact(kind, key, candidate)].flatMap((one) => (one ? [one] : []));
      const received = new Map(said.map((one) => [one.path.key, [one.before?.spec, one.after?.spec]]));
      expect(received.size).toBe(said.length);
      expect([...viewsOf(kind)]).toEqual([...before]);
      if (gone) trial.removePolicy(change.kind, change.name, change.namespace);
      else put(trial, change, creationOrder);
      const after = viewsOf(kind);
      const changed = new Map<string, readonly unknown[]>();
      for (const { path } of [...before.values(), ...after.values()]) {
        const pair = [seen(before, path), seen(after, path)];
        if (JSON.stringify(sorted(pair[0])) !== JSON.stringify(sorted(pair[1]))) changed.set(path.key, pair);
      }
      expect(new Map([...received].sort())).toEqual(new Map([...changed].sort()));
    });
    fc.assert(property, { numRuns: 100 });
  });

  it('T004-14 `_scopes` has each path on which a policy counts, once', () => {
    const property = fc.property(fc.array(written, { minLength: 1, maxLength: 8 }), (some) => {
      const trial = new Trial();
      for (const policy of some) put(trial, policy);
      for (const kind of trial.table.all()) {
        const all = [...viewsOf(kind).values()].map(({ path }) => path);
        for (const { policy } of kind.policies.attachments.all()) {
          const scopes = [...findScopes(kind, policy)].flatMap((path) => (path ? [path.key] : []));
          const own = all
            .filter(({ policies }) => policies.some(({ key }) => key === policy.key))
            .map(({ key }) => key);
          expect(scopes.sort()).toEqual(own.sort());
        }
      }
    });
    fc.assert(property, { numRuns: 60 });
  });

  it('T004-40 what affects an object is what stands on the paths that it is on, and what proxies get', () => {
    const property = fc.property(fc.array(written, { minLength: 1, maxLength: 8 }), (some) => {
      const trial = new Trial();
      for (const policy of some) put(trial, policy);
      const kind = trial.kind('RulePolicy');
      const all = [...viewsOf(kind).values()];
      for (const object of [trial.a, trial.b, trial.routes1, trial.routes3]) {
        const own = [...pathsAt(kind, object, kind.policies.attachments)].map(({ key }) => key);
        const on = ({ path }: { readonly path: PolicyPath }): boolean =>
          path.nodes.some(({ id }) => id && identityKey(id) === identityKey(object));
        expect(own.sort()).toEqual(
          all
            .filter(on)
            .map(({ path }) => path.key)
            .sort(),
        );
      }
      for (const { path, spec } of all) {
        const { context } = path;
        const at = (level: Level) => path.nodes.find((node) => node.level === level);
        const [port, route, rule] = [at('ServicePort'), at('Route'), at('Rule')];
        if (!context || !port) continue;
        const received = trial.table.effectiveOfRule('RulePolicy', {
          frontend: context.frontend.id,
          port: Number(port.section),
          group: context.group,
          ...(route?.id ? { route: route.id } : {}),
          ...(rule?.section === undefined ? {} : { rule: rule.section }),
        });
        expect(received?.spec).toEqual(spec);
      }
    });
    fc.assert(property, { numRuns: 60 });
  });
});

/** Objects without the order of their fields. */
function sorted(value: JsonValue | undefined): unknown {
  if (!isJsonObject(value)) return value ?? null;
  return Object.keys(value)
    .sort()
    .map((key) => [key, sorted(value[key])]);
}
