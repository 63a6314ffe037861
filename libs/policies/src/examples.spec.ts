import { gatewayGroup } from '@causeway/routing';
import type { Identity, JsonObject } from '@causeway/resources';
import { PolicyGraph, targetRef } from '../../../test/support/policy-graph';
import type { DefinitionSpec } from './model/definition';

const words = 'colours what goes through it';
const color: DefinitionSpec = {
  group: 'policies.example.com',
  kind: 'ColorPolicy',
  hierarchy: ['Gateway', 'Route', 'Rule', 'Backend'],
  declaredTargets: [
    { kind: 'Gateway', semantics: words },
    { kind: 'Route', semantics: words },
  ],
  effectiveTarget: { level: 'Backend', semantics: words },
};
const atomic = { ...color, mergeStrategies: ['AtomicDefaults', 'AtomicOverrides'] } as const;
const all = {
  ...color,
  mergeStrategies: ['AtomicDefaults', 'AtomicOverrides', 'PatchDefaults', 'PatchOverrides'],
} as const;

/** g1 > (r1 > b1, r2 > b1), g2 > (r3 > b1, r4 > b2): the graph of the examples 2 and 3 (specification, 1.6). */
class Example extends PolicyGraph {
  readonly b1 = this.service('b1');
  readonly b2 = this.service('b2');
  readonly g1 = this.gateway('g1');
  readonly g2 = this.gateway('g2');
  readonly r1 = this.route('r1', [this.g1], [{ to: [this.b1] }]);
  readonly r2 = this.route('r2', [this.g1], [{ to: [this.b1] }]);
  readonly r3 = this.route('r3', [this.g2], [{ to: [this.b1] }]);
  readonly r4 = this.route('r4', [this.g2], [{ to: [this.b2] }]);

  on(name: string, target: Identity, spec: JsonObject): this {
    this.policy('ColorPolicy', name, { targetRefs: [targetRef(target)], ...spec });
    return this;
  }

  /** The effective spec at a path. */
  at(gateway: Identity, route: Identity, backend: Identity): JsonObject | undefined {
    const place = { frontend: gateway, port: 80, group: gatewayGroup(`ns/${gateway.name}`), route, rule: 'rule-1' };
    return this.table.effectiveOfRule('ColorPolicy', { ...place, backend: { service: backend, port: 80 } })?.spec;
  }

  /** The effective specs of the four paths, in their order. */
  get specs(): readonly (JsonObject | undefined)[] {
    const { g1, g2, r1, r2, r3, r4, b1, b2 } = this;
    return [this.at(g1, r1, b1), this.at(g1, r2, b1), this.at(g2, r3, b1), this.at(g2, r4, b2)];
  }
}

describe('the examples of the seed', () => {
  it('T004-36, T004-24 EX1: of two policies on one backend the older counts', () => {
    const graph = new Example().define({
      ...color,
      declaredTargets: [{ kind: 'MeshService', facet: 'backend', semantics: words }],
    });
    graph.on('p1', graph.b1, { color: 'red' }).on('p2', graph.b1, { color: 'blue' });
    expect(graph.specs).toEqual([{ color: 'red' }, { color: 'red' }, { color: 'red' }, undefined]);
  });

  it('T004-37, T004-17, T004-21 EX2: defaults give way, overrides do not', () => {
    const graph = new Example().define(atomic);
    graph.on('p1', graph.g1, { color: 'red' }).on('p2', graph.r1, { color: 'blue' });
    graph.on('p3', graph.g2, { overrides: { color: 'yellow' } }).on('p4', graph.r4, { color: 'green' });
    expect(graph.specs).toEqual([{ color: 'blue' }, { color: 'red' }, { color: 'yellow' }, { color: 'yellow' }]);
  });

  it('T004-38 EX3: patches merge, atomic specs do not', () => {
    const graph = new Example().define(all);
    graph.on('p1', graph.g1, { colors: { dark: 'brown', light: 'red' }, strategy: 'atomic' });
    graph.on('p2', graph.r1, { colors: { light: 'blue' } });
    graph.on('p3', graph.g2, { overrides: { colors: { light: 'yellow' }, strategy: 'patch' } });
    graph.on('p4', graph.r4, { colors: { dark: 'olive', light: 'green' } });
    expect(graph.specs).toEqual([
      { colors: { light: 'blue' } },
      { colors: { dark: 'brown', light: 'red' } },
      { colors: { light: 'yellow' } },
      { colors: { dark: 'olive', light: 'yellow' } },
    ]);
  });

  it('T004-33: of the abstract process: m1 in b1, m1 and m2 in b2', () => {
    const graph = new Example().define(all);
    graph.on('m1', graph.g2, { defaults: { a: 1, strategy: 'patch' } }).on('m2', graph.r4, { b: 2 });
    expect(graph.specs.slice(2)).toEqual([{ a: 1 }, { a: 1, b: 2 }]);
  });

  it('T004-13: a route that appears later is in scope without a change of the policy', () => {
    const graph = new Example().define(atomic);
    graph.on('p3', graph.g2, { overrides: { color: 'yellow' } });
    const r5 = graph.route('r5', [graph.g2], [{ to: [graph.b2] }]);
    expect(graph.at(graph.g2, r5, graph.b2)).toEqual({ color: 'yellow' });
  });
});
