import type { FrontendGroup } from '@causeway/routing';
import { FieldPath, type Identity, type JsonObject, type Violation } from '@causeway/resources';
import { PolicyGraph, targetRef } from '../../../test/support/policy-graph';
import { policyDefinition, type DefinitionSpec } from './model/definition';
import { definitionViolations, type WrittenDefinition } from './model/definition-rules';
import { normalPolicySpec, policyViolations } from './model/read-policy';
import { pathsAt } from './reads/policy-path';

const semantics = 'paints what goes through it';
const group = 'policies.example.com';
const paint: DefinitionSpec = {
  group,
  kind: 'PaintPolicy',
  hierarchy: 'mesh',
  declaredTargets: [
    { kind: 'Namespace', semantics },
    { kind: 'MeshService', semantics },
    { kind: 'HTTPRoute', semantics },
  ],
  effectiveTarget: { level: 'Rule', semantics },
  mergeStrategies: ['AtomicDefaults', 'AtomicOverrides', 'PatchDefaults', 'PatchOverrides'],
};
const service: DefinitionSpec = {
  group,
  kind: 'BackendPaint',
  hierarchy: ['Backend'],
  declaredTargets: [{ kind: 'MeshService', facet: 'backend', semantics }],
  effectiveTarget: { level: 'Backend', semantics },
};

const AT = FieldPath.at('spec');
const owner: Identity = { kind: 'PaintPolicy', mesh: 'default', zone: '', namespace: 'ns', name: 'p' };
const rules = (found: readonly Violation[]): string[] => found.map(({ field, rule }) => `${field} ${rule}`);
const refused = (spec: JsonObject, of: DefinitionSpec = paint): string[] =>
  rules(policyViolations(policyDefinition(of), owner, spec, AT));
const badDefinition = (change: Partial<WrittenDefinition>, of: DefinitionSpec = paint): string[] =>
  rules(definitionViolations({ ...of, ...change }, AT));
const one = [{ kind: 'MeshService', name: 'a' }];

describe('instances of policies', () => {
  it('T004-01 say what they are for and what they do', () => {
    expect(refused({ targetRefs: one, color: 'red' })).toEqual([]);
    expect(refused({ color: 'red' })).toEqual(['spec.targetRefs required']);
    expect(refused({ targetRefs: one })).toEqual(['spec required']);
    expect(refused({ targetRefs: one, overrides: {} })).toEqual(['spec.overrides required']);
  });

  it('T004-04 have 1 to 16 targets, each once; targetRef is a list of one', () => {
    const many = (n: number) => Array.from({ length: n }, (_, i) => ({ kind: 'MeshService', name: `a${i}` }));
    expect(refused({ targetRefs: [], color: 'red' })).toEqual(['spec.targetRefs too-few']);
    expect(refused({ targetRefs: many(16), color: 'red' })).toEqual([]);
    expect(refused({ targetRefs: many(17), color: 'red' })).toEqual(['spec.targetRefs too-many']);
    const twice = [...one, { kind: 'Service', name: 'a', namespace: 'ns' }];
    expect(refused({ targetRefs: twice, color: 'red' })).toEqual(['spec.targetRefs[1] not-unique']);
    expect(refused({ targetRef: one[0] ?? null, targetRefs: one, color: 'red' })).toEqual([
      'spec.targetRef not-allowed',
    ]);
    const single = { targetRef: { kind: 'HTTPRoute', name: 'r' }, color: 'red' };
    expect(refused(single)).toEqual([]);
    expect(normalPolicySpec(policyDefinition(paint), single)).toEqual({
      targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'r' }],
      color: 'red',
    });
  });

  it('T004-05 need no kind where there is one, and tolerate a version in the group', () => {
    const spec = { targetRefs: [{ name: 'a' }], color: 'red' };
    expect(refused(spec)).toEqual(['spec.targetRefs[0].kind required']);
    expect(refused(spec, service)).toEqual([]);
    expect(normalPolicySpec(policyDefinition(service), spec)['targetRefs']).toEqual([
      { group: 'kuma.io', kind: 'MeshService', name: 'a' },
    ]);
    const versioned = { kind: 'HTTPRoute', group: 'gateway.networking.k8s.io/v1', name: 'r' };
    expect(refused({ targetRefs: [versioned], color: 'red' })).toEqual([]);
    expect(refused({ targetRefs: [{ ...versioned, group: 'apps' }], color: 'red' })).toEqual([
      'spec.targetRefs[0].group not-one-of',
    ]);
    expect(refused({ targetRefs: [{ kind: 'Dataplane', name: 'd' }], color: 'red' })).toEqual([
      'spec.targetRefs[0].kind not-one-of',
    ]);
  });

  it('T004-07 name or select, not both', () => {
    const ref = (rest: JsonObject) => ({ targetRefs: [{ kind: 'MeshService', ...rest }], color: 'red' });
    expect(refused(ref({ selector: {} }))).toEqual([]);
    expect(refused(ref({ selector: {}, name: 'a' }))).toEqual(['spec.targetRefs[0].name required']);
    expect(refused(ref({}))).toEqual(['spec.targetRefs[0].name required']);
    expect(refused(ref({ selector: { labels: {} } }))).toEqual(['spec.targetRefs[0].selector.labels wrong-form']);
  });

  it('T004-08 stay in their namespace, unless their kind lets them leave it', () => {
    const away = { targetRefs: [{ kind: 'MeshService', namespace: 'other', name: 'a' }], color: 'red' };
    expect(refused(away)).toEqual(['spec.targetRefs[0].namespace not-allowed']);
    expect(refused(away, { ...paint, crossNamespace: 'ClientSide' })).toEqual([]);
    const namespace = { targetRefs: [{ kind: 'Namespace', name: 'other' }], color: 'red' };
    expect(refused(namespace, { ...paint, crossNamespace: 'ClientSide' })).toEqual([
      'spec.targetRefs[0].name not-allowed',
    ]);
  });

  it('T004-20, T004-31 have one strategy, which their kind has', () => {
    const of = (rest: JsonObject) => refused({ targetRefs: one, ...rest });
    expect(of({ color: 'red', strategy: 'patch' })).toEqual([]);
    expect(of({ defaults: { color: 'red', strategy: 'patch' } })).toEqual([]);
    expect(of({ color: 'red', strategy: 'whole' })).toEqual(['spec.strategy not-one-of']);
    expect(of({ defaults: { color: 'red' }, overrides: { color: 'red' } })).toEqual(['spec.overrides not-allowed']);
    expect(of({ color: 'red', overrides: { color: 'blue' } })).toEqual(['spec.color not-allowed']);
    expect(of({ overrides: { color: 'red', strategy: 'patch' }, strategy: 'patch' })).toEqual([
      'spec.strategy not-allowed',
    ]);
    const defaultsOnly: DefinitionSpec = { ...paint, mergeStrategies: ['AtomicDefaults'] };
    expect(refused({ targetRefs: one, overrides: { color: 'red' } }, defaultsOnly)).toEqual([
      'spec.overrides not-one-of',
    ]);
    expect(refused({ targetRefs: one, defaults: { color: 'red' } }, service)).toEqual(['spec.defaults not-allowed']);
  });

  it('T004-27 hold no null, and are no deeper than 32', () => {
    expect(refused({ targetRefs: one, a: { b: [{ c: null }] } })).toEqual(['spec.a.b[0].c wrong-type']);
    let deep: JsonObject = { leaf: 1 };
    for (let i = 0; i < 40; i += 1) deep = { deep };
    expect(refused({ targetRefs: one, ...deep }).map((text) => text.split(' ')[1])).toEqual(['too-deep']);
  });
});

describe('definitions of policies', () => {
  it('T004-15 have levels in their order, each once', () => {
    expect(badDefinition({})).toEqual([]);
    expect(badDefinition({ hierarchy: ['Route', 'Service', 'Route'] })).toEqual([
      'spec.hierarchy[1] not-allowed',
      'spec.hierarchy[2] not-unique',
    ]);
    expect(badDefinition({ hierarchy: ['Mesh', 'Galaxy'] })).toEqual(['spec.hierarchy[1] not-one-of']);
    expect(badDefinition({ hierarchy: 'galaxy' })).toEqual(['spec.hierarchy not-one-of']);
    expect(badDefinition({ hierarchy: [] })).toEqual(['spec.hierarchy too-few']);
    expect(badDefinition({ hierarchy: ['Namespace', 'Route', 'Rule'] })).toEqual(['spec.hierarchy not-allowed']);
  });

  it('T004-12 name targets that their hierarchy has, and say what they mean', () => {
    const target = (kind: string, words = semantics) => ({ declaredTargets: [{ kind, semantics: words }] });
    expect(badDefinition(target('Gateway'))).toEqual(['spec.declaredTargets[0].kind not-allowed']);
    expect(badDefinition(target('Dataplane'))).toEqual(['spec.declaredTargets[0].kind not-one-of']);
    expect(badDefinition(target('Namespace', ' '))).toEqual(['spec.declaredTargets[0].semantics required']);
    expect(badDefinition({ declaredTargets: [] })).toEqual(['spec.declaredTargets too-few']);
    expect(badDefinition({ effectiveTarget: { level: 'Gateway', semantics } })).toEqual([
      'spec.effectiveTarget.level not-one-of',
    ]);
    expect(badDefinition({ effectiveTarget: { level: 'Namespace', semantics } })).toEqual([
      'spec.declaredTargets[1].kind not-allowed',
      'spec.declaredTargets[2].kind not-allowed',
    ]);
  });

  it('T004-28, T004-20 have strategies that exist, AtomicDefaults among several', () => {
    expect(badDefinition({ mergeStrategies: ['Whole'] })).toEqual(['spec.mergeStrategies[0] not-one-of']);
    expect(badDefinition({ mergeStrategies: ['AtomicOverrides', 'PatchOverrides'] })).toEqual([
      'spec.mergeStrategies required',
    ]);
    expect(badDefinition({ mergeStrategies: ['None', 'AtomicDefaults'] })).toEqual([
      'spec.mergeStrategies not-allowed',
    ]);
  });

  it('T004-29, T004-30, T004-34, T004-35 merge nothing where one kind takes effect itself, else AtomicDefaults', () => {
    const { mergeStrategies: _, ...silent } = paint;
    expect(policyDefinition(service)).toMatchObject({ strategies: ['None'], class: 'Direct' });
    expect(policyDefinition(silent)).toMatchObject({ strategies: ['AtomicDefaults'], class: 'Inherited' });
    expect(badDefinition({ class: 'Direct' })).toEqual(['spec.class not-allowed']);
    expect(badDefinition({ class: 'Direct' }, service)).toEqual([]);
    const merging: DefinitionSpec = { ...service, mergeStrategies: ['AtomicDefaults'] };
    expect(policyDefinition(merging).class).toBe('Inherited');
  });
});

describe('where policies attach', () => {
  class Painted extends PolicyGraph {
    readonly a = this.service('a', { ports: [80, 81], labels: { team: 'red' } });
    readonly r = this.route('r', [this.a], [{ name: 'first', to: [this.a], path: '/x' }, { to: [this.a] }]);

    put(name: string, target: JsonObject, spec: JsonObject, namespace = 'ns'): string {
      return this.policy('PaintPolicy', name, { targetRefs: [target], ...spec }, { namespace });
    }

    color(rule?: string, group: FrontendGroup = 'producer', port = 80): unknown {
      const route = rule === undefined ? {} : { route: this.r, rule };
      return this.table.effectiveOfRule('PaintPolicy', { frontend: this.a, port, group, ...route })?.spec['color'];
    }

    found(key: string): number {
      return this.table.kind('PaintPolicy')?.policies.attachments.listNodes(key).length ?? 0;
    }
  }
  const painted = (spec = paint): Painted => new Painted().define(spec);

  it('T004-06 by name, exactly', () => {
    const graph = painted();
    graph.put('p', { kind: 'Service', name: 'a' }, { color: 'red' });
    expect([graph.color('first'), graph.color('rule-2')]).toEqual(['red', 'red']);
    expect(graph.found(graph.put('q', { kind: 'MeshService', name: 'A' }, { color: 'blue' }))).toBe(0);
  });

  it('T004-07, T004-13 by labels, and whatever matches later', () => {
    const graph = painted();
    const key = graph.put('p', { kind: 'MeshService', selector: { matchLabels: { team: 'red' } } }, { color: 'red' });
    expect([graph.found(key), graph.color('first')]).toEqual([1, 'red']);
    graph.service('later', { labels: { team: 'red' } });
    expect(graph.found(key)).toBe(2);
    graph.service('later', { labels: {} });
    expect(graph.found(key)).toBe(1);
  });

  it('T004-10 to a section: a port by name or number, a rule by its name or place', () => {
    const graph = painted();
    graph.put('p', { kind: 'HTTPRoute', name: 'r', sectionName: 'rule-2' }, { color: 'red' });
    graph.put('q', { kind: 'MeshService', name: 'a', sectionName: 'p81' }, { color: 'blue' });
    expect([graph.color('first'), graph.color('rule-2')]).toEqual([undefined, 'red']);
    expect(graph.color(undefined, 'producer', 81)).toBe('blue');
    expect(graph.found(graph.put('s', { kind: 'HTTPRoute', name: 'r', sectionName: 'third' }, { color: 'red' }))).toBe(
      0,
    );
  });

  it('T004-09 ClientSide: for clients of the policy’s namespace alone', () => {
    const graph = painted({ ...paint, crossNamespace: 'ClientSide' });
    graph.put('p', { kind: 'MeshService', name: 'a' }, { color: 'red' });
    graph.put('q', { kind: 'MeshService', namespace: 'ns', name: 'a' }, { color: 'blue' }, 'other');
    expect(graph.table.listConsumers(graph.a)).toEqual(['other']);
    expect([
      graph.color('first'),
      graph.color('first', 'consumer:other'),
      graph.color('first', 'consumer:third'),
    ]).toEqual(['red', 'blue', 'red']);
  });

  it('T004-09 ReferenceGrant: where the target’s namespace grants it, and no longer', () => {
    const graph = painted({ ...paint, crossNamespace: 'ReferenceGrant' });
    const key = graph.put('q', { kind: 'MeshService', namespace: 'ns', name: 'a' }, { color: 'blue' }, 'other');
    const grant: Identity = { kind: 'ReferenceGrant', mesh: 'default', zone: '', namespace: 'ns', name: 'g' };
    const from = [{ group, kind: 'PaintPolicy', namespace: 'other' }];
    const seen = [graph.color('first')];
    for (const to of [[{ group: '', kind: 'Service', name: 'a' }], undefined]) {
      graph.routes.setGrant(grant, to && { id: grant, from, to });
      graph.table.grantsChanged('default', 'ns');
      seen.push(graph.color('first'));
    }
    expect([seen, graph.found(key)]).toEqual([[undefined, 'blue', undefined], 0]);
  });

  it('T004-11 to what is virtual, where it is named', () => {
    const external = { group: 'networking.example.com', kind: 'ExternalService', semantics };
    const graph = painted({ ...paint, virtualTargets: [external] });
    const key = graph.put('p', { group: external.group, kind: external.kind, name: 'foo.com' }, { color: 'red' });
    expect(graph.found(key)).toBe(1);
    expect(refused({ targetRefs: [{ kind: 'ExternalService', name: 'foo.com' }], color: 'red' })).toEqual([
      'spec.targetRefs[0].kind not-one-of',
    ]);
  });

  it('T004-14, T004-16 a Namespace’s policy is inherited by all rules below, explicit and implicit', () => {
    const graph = painted();
    graph.put('p', { kind: 'Namespace', name: 'ns' }, { color: 'red' });
    expect([graph.color('first'), graph.color(undefined, 'producer', 81)]).toEqual(['red', 'red']);
  });

  it('T004-18 every path has one effective spec or none', () => {
    const graph = painted();
    graph.put('p', { kind: 'Namespace', name: 'ns' }, { color: 'red' });
    graph.put('q', { kind: 'HTTPRoute', name: 'r' }, { color: 'blue' });
    const kind = graph.table.kind('PaintPolicy');
    const mesh = { kind: 'Mesh', mesh: '', zone: '', namespace: '', name: 'default' };
    const paths = kind ? [...pathsAt(kind, mesh, kind.policies.attachments)].map(({ key }) => key) : [];
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths).toHaveLength(4); // two rules at each of two ports
  });

  it('T004-22, T004-23 on one object the older dictates: its defaults give way, its overrides do not; ties by name', () => {
    const outcome = (old: JsonObject, young: JsonObject, order = 2): unknown => {
      const graph = painted();
      graph.policy('PaintPolicy', 'young', { targetRefs: one, ...young }, { order });
      graph.policy('PaintPolicy', 'old', { targetRefs: one, ...old }, { order: 1 });
      return graph.color('first');
    };
    expect(outcome({ color: 'red' }, { color: 'blue' })).toBe('blue');
    expect(outcome({ overrides: { color: 'red' } }, { color: 'blue' })).toBe('red');
    expect(outcome({ overrides: { color: 'red' } }, { overrides: { color: 'blue' } }, 1)).toBe('red');
    expect(targetRef(painted().a)).toEqual({ kind: 'MeshService', name: 'a' });
  });
});
