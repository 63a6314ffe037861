import fc from 'fast-check';
import { identityKey, type Identity } from '@causeway/resources';
import { foundation, keep, stored, TrialTables, type Stored } from '../../../../test/support/random-policies';
import { foldPath, pathsAt, type PolicyPath } from '../reads/policy-path';
import { lowerPolicies } from './kind-policies';
import type { KindTable } from './kind-table';
import type { PolicyTable } from './policy-table';

const MESH: Identity = { kind: 'Mesh', mesh: '', zone: '', namespace: '', name: 'default' };
const change = fc.record({ one: stored, gone: fc.boolean() });
const changes = fc
  .array(change, { minLength: 1, maxLength: 25 })
  .map((some) => [...foundation.map((one) => ({ one, gone: false })), ...some]);

const pathsOf = (kind: KindTable): PolicyPath[] => [...pathsAt(kind, MESH, kind.policies.attachments)];

/** Returns the counts of a kind below each Namespace: paths by the policies that stand below it. */
function counted({ contexts, scopes }: KindTable): Map<string, number> {
  const found = new Map<string, number>();
  const add = (key: string, paths: number): void => {
    if (paths !== 0) found.set(key, (found.get(key) ?? 0) + paths);
  };
  for (const namespace of new Set([...contexts.countsBelow('default').keys(), ...scopes.listNamespaces('default')])) {
    add(`${namespace}:`, scopes.plain('default', namespace));
    for (const { lower, paths } of scopes.below('default', namespace)) add(`${namespace}:${lower.join()}`, paths);
  }
  return found;
}

/** The same by looking at each path. */
function enumerated(kind: KindTable): Map<string, number> {
  const found = new Map<string, number>();
  const { attachments } = kind.policies;
  const above = (key: string): boolean =>
    ['mesh default', 'namespace default/n', 'namespace default/m'].some((node) =>
      attachments.at(node).some((policy) => policy.key === key),
    );
  for (const { namespace, policies, lower, context } of pathsOf(kind)) {
    const upper = policies.length - lowerCount(kind, { lower, context });
    const keys = policies.slice(upper).map(({ key }) => key);
    expect(policies.slice(0, upper).every(({ key }) => above(key))).toBe(true);
    const key = `${namespace}:${keys.join()}`;
    found.set(key, (found.get(key) ?? 0) + 1);
  }
  return found;
}

function lowerCount(kind: KindTable, { lower, context }: Pick<PolicyPath, 'lower' | 'context'>): number {
  const without = { ...kind.policies.attachments.definition, levels: [] };
  const { attachments } = kind.policies;
  const carriers = {
    definition: without,
    at: (key: string) => attachments.at(key),
    has: (key: string) => attachments.has(key),
  };
  return context ? lowerPolicies(carriers, context, lower).length : 0;
}

/** Returns the contents of a table in words, by their subject. */
function whole(table: PolicyTable): Map<string, string> {
  const said = new Map<string, string>();
  for (const kind of table.all()) {
    const name = kind.definition.kind;
    for (const path of pathsOf(kind)) {
      const fold = foldPath(kind, path);
      const states = fold?.policies.map((policy) => [policy.key, fold.getScopeState(policy)]);
      said.set(`${name} ${path.key}`, JSON.stringify([fold?.spec, [...(fold?.sources ?? [])], states]));
    }
    said.set(`${name} counts`, JSON.stringify([...counted(kind)].sort()));
    for (const { policy, targets } of kind.policies.attachments.all()) {
      const nodes = targets.map(({ permitted, found }) => [permitted, [...found.keys()].sort()]);
      said.set(policy.key, JSON.stringify([policy.violation, nodes]));
    }
  }
  return new Map([...said].sort(([a], [b]) => (a < b ? -1 : 1)));
}

describe('a table of policies', () => {
  it('T004-61 whatever changes, it is as one that was filled from nothing, and it has announced what differs', () => {
    fc.assert(
      fc.property(changes, (given) => {
        const trial = new TrialTables();
        const state = new Map<string, Stored>();
        let before = new Map<string, string>();
        for (const { one, gone } of given) {
          keep(state, one, gone);
          const affected = trial.write(one, gone);
          const after = whole(trial.table);
          expect(after).toEqual(whole(TrialTables.filled(state.values()).table));
          const received = new Set([
            ...affected.rules.map(({ kind, frontend, group }) => `${kind} ${frontend} ${group}`),
            ...affected.backends.map(
              ({ kind, service, consumer }) =>
                `${kind} ${service} ${consumer === undefined ? 'backend' : `consumer:${consumer}`}`,
            ),
          ]);
          for (const kind of trial.table.all()) {
            for (const path of pathsOf(kind)) {
              const key = `${kind.definition.kind} ${path.key}`;
              const was = before.get(key);
              const isNew = was === undefined && path.policies.length === 0;
              if (isNew || was === after.get(key) || !path.context) continue;
              const { frontend, group } = path.context;
              const { kind: name } = kind.definition;
              if (affected.meshes.some((all) => all.kind === name && all.mesh === 'default')) continue;
              expect([...received]).toContain(`${name} ${frontend.key} ${group}`);
            }
          }
          before = after;
        }
      }),
      { numRuns: 100 },
    );
  });

  it('T004-61 counts what there is', () => {
    fc.assert(
      fc.property(changes, (given) => {
        const trial = new TrialTables();
        for (const { one, gone } of given) trial.write(one, gone && one.type !== 'definition');
        for (const kind of trial.table.all()) expect(counted(kind)).toEqual(enumerated(kind));
      }),
      { numRuns: 100 },
    );
  });

  it('the order of arrival does not matter, nor whether all come at once', () => {
    fc.assert(
      fc.property(fc.uniqueArray(stored, { maxLength: 25, selector: ({ id }) => identityKey(id) }), (some) => {
        const all = [
          ...some,
          ...foundation.filter(({ id }) => !some.some((one) => identityKey(one.id) === identityKey(id))),
        ];
        const [one, other, once] = [new TrialTables(), new TrialTables(), new TrialTables()];
        for (const each of all) one.write(each, false);
        for (const each of [...all].reverse()) other.write(each, false);
        once.table.batch(() => all.forEach((each) => once.write(each, false)));
        expect(whole(other.table)).toEqual(whole(one.table));
        expect(whole(once.table)).toEqual(whole(one.table));
      }),
      { numRuns: 60 },
    );
  });
});
