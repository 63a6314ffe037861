import fc from 'fast-check';
import type { Identity } from '@causeway/resources';
import type { NaivePath } from '../../../../test/support/naive-fold';
import { NaivePolicies, nameOf, stepName } from '../../../../test/support/naive-policies';
import { foundation, keep, stored, TrialTables, type Stored } from '../../../../test/support/random-policies';
import { foldPath, pathsAt, type PolicyPath } from '../reads/policy-path';
import type { PolicyTable } from './policy-table';
import type { Effective } from './effective';
import type { Node } from './nodes';

const MESH: Identity = { kind: 'Mesh', mesh: '', zone: '', namespace: '', name: 'default' };

/** A node in the words of the naive evaluator. */
function labelOf({ level, key, id, section, namespace }: Node): string {
  if (level === 'Mesh') return stepName(level, 'default');
  if (level === 'Namespace') return stepName(level, namespace);
  if (!id) return key.replace(/^implicit (\w+) /, '$1 implicit ');
  return section === undefined ? stepName(level, nameOf(id)) : stepName(level, nameOf(id), section);
}

interface Received {
  readonly policies: readonly string[];
  readonly spec: unknown;
  readonly sources: readonly (readonly [string, string])[];
}
const received = (policies: readonly { readonly key: string }[], { spec, sources }: Effective): Received => ({
  policies: policies.map(({ key }) => key),
  spec,
  sources: [...sources].map(([at, { policy }]) => [at, policy] as const).sort(),
});

/** Asks as proxies do. */
function askedAt(table: PolicyTable, kind: string, { context, group, lower }: PolicyPath): Effective | undefined {
  if (!context) return undefined;
  const sectionAt = (level: string): string | undefined => lower.find((node) => node.level === level)?.section;
  const { frontend, consumer } = context;
  const { id } = frontend;
  if (group === 'backend' || (consumer !== undefined && kind === 'DirectPolicy')) {
    const port = Number(sectionAt('BackendPort') ?? 80);
    return table.effectiveOfBackend(kind, { service: id, port, ...(consumer !== undefined && { consumer }) });
  }
  const route = lower.find((node) => node.level === 'Route')?.id;
  const rule = sectionAt('Rule');
  const service = lower.find((node) => node.level === 'Backend')?.id;
  return table.effectiveOfRule(kind, {
    frontend: id,
    port: Number(sectionAt('ServicePort') ?? 80),
    group: context.group,
    ...(route && { route, ...(rule !== undefined && { rule }) }),
    ...(service && { backend: { service, port: 80 } }),
  });
}

/** Returns the effective specs of a table's paths; each path once, and equal to what proxies get. */
function engine(table: PolicyTable): Map<string, Received> {
  const found = new Map<string, Received>();
  for (const kind of table.all()) {
    const name = kind.definition.kind;
    for (const path of pathsAt(kind, MESH, kind.policies.attachments)) {
      const fold = foldPath(kind, path);
      const key = [name, path.group, path.namespace, ...path.nodes.map(labelOf)].join('\n');
      expect(found.has(key)).toBe(false);
      if (!fold) continue;
      found.set(key, received(path.policies, fold));
      expect(askedAt(table, name, path)?.spec).toEqual(fold.spec);
    }
  }
  return found;
}

function naive(all: Iterable<Stored>): ReadonlyMap<string, NaivePath> {
  return new NaivePolicies([...all], 'west').effective();
}

const inWords = (paths: ReadonlyMap<string, NaivePath>): Map<string, Received> =>
  new Map(
    [...paths].map(([key, { policies, spec, sources }]) => [
      key,
      { policies: policies.map((one) => one.key), spec, sources: [...sources].sort() },
    ]),
  );

const changes = fc
  .array(fc.record({ one: stored, gone: fc.boolean() }), { minLength: 1, maxLength: 40 })
  .map((some) => [...foundation.map((one) => ({ one, gone: false })), ...some]);

describe('effective specs', () => {
  it('T004-18, T004-19 after any changes are what a naive evaluator makes of what is stored then, each path once', () => {
    fc.assert(
      fc.property(changes, (given) => {
        const trial = new TrialTables();
        const state = new Map<string, Stored>();
        for (const { one, gone } of given) {
          keep(state, one, gone);
          trial.write(one, gone);
        }
        expect(engine(trial.table)).toEqual(inWords(naive(state.values())));
      }),
      { numRuns: 100 },
    );
  });

  it('in whatever order everything came', () => {
    fc.assert(
      fc.property(changes, fc.infiniteStream(fc.nat()), (given, draws) => {
        const state = new Map<string, Stored>();
        for (const { one } of given) keep(state, one, false);
        const want = inWords(naive(state.values()));
        const shuffled = [...state.values()]
          .map((one) => ({ one, at: draws.next().value }))
          .sort((a, b) => a.at - b.at)
          .map(({ one }) => one);
        const trial = new TrialTables();
        for (const one of shuffled) trial.write(one, false);
        expect(engine(trial.table)).toEqual(want);
        expect(engine(TrialTables.filled(shuffled).table)).toEqual(want);
      }),
      { numRuns: 40 },
    );
  });

  it('of atomic policies keep the law: A override > B override > C override > C default > B default > A default', () => {
    fc.assert(
      fc.property(changes, (given) => {
        const trial = new TrialTables();
        const state = new Map<string, Stored>();
        for (const { one, gone } of given) {
          keep(state, one, gone);
          trial.write(one, gone);
        }
        const found = engine(trial.table);
        for (const [key, { policies }] of naive(state.values())) {
          if (policies.some(({ isPatch }) => isPatch)) continue;
          const winner = policies.find(({ isOverride }) => isOverride) ?? policies.at(-1);
          expect(new Set(found.get(key)?.sources.map(([, by]) => by))).toEqual(new Set([winner?.key]));
        }
      }),
      { numRuns: 40 },
    );
  });
});
