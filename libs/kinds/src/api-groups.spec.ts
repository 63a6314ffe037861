import fc from 'fast-check';
import { listGroups, type GroupedKind } from '@causeway/resources';
import { apiGroups, isOfGroup } from '@causeway/resources/testing';
import { coreKinds } from './core-kinds';

const names = coreKinds.kinds.flatMap((kind) => [kind.bareName, ...kind.aliases.map(({ name }) => name)]);
const groups = Object.keys(apiGroups);
const versions = [...new Set(Object.values(apiGroups).flat())];

/** The kinds, and aliases, that documents may name so. */
const called = (name: string): readonly GroupedKind[] =>
  coreKinds.kinds.flatMap((kind) => [
    ...(kind.bareName === name ? [kind] : []),
    ...kind.aliases.filter((alias) => alias.name === name),
  ]);

describe('the groups of kinds', () => {
  it.each<[string, string, boolean]>([
    ['gateway.networking.k8s.io/v1', 'HTTPRoute', true],
    ['gateway.networking.k8s.io/v1beta1', 'HTTPRoute', true],
    ['gateway.networking.k8s.io/v1alpha2', 'HTTPRoute', true],
    ['gateway.networking.k8s.io/v1alpha2', 'TCPRoute', true],
    ['gateway.networking.k8s.io/v1alpha3', 'TLSRoute', true],
    ['gateway.networking.k8s.io/v1alpha2', 'ReferenceGrant', true],
    ['gateway.networking.k8s.io/v9', 'HTTPRoute', false],
    ['policy.linkerd.io/v1beta3', 'HTTPRoute', false],
    ['wrong.example.com/v1', 'MeshService', false],
    ['kuma.io/v1alpha1', 'MeshService', true],
    ['kuma.io/v1alpha1', 'Mesh', true],
    ['appmesh.k8s.aws/v1beta2', 'Mesh', true],
    ['gateway.networking.x-k8s.io/v1alpha1', 'XMesh', true],
    ['gateway.networking.x-k8s.io/v1alpha1', 'Mesh', true],
    ['kuma.io/v1alpha1', 'XMesh', false],
    ['appmesh.k8s.aws/v1beta1', 'VirtualNode', true],
    ['v1', 'ConfigMap', true],
    ['v1', 'Namespace', true],
    ['v1', 'MeshService', false],
    ['', 'Namespace', false],
    ['/v1', 'Namespace', false],
    ['kuma.io/v1alpha1/v1', 'MeshService', false],
    ['constructor/v1', 'MeshService', false],
  ])('%s %s', (apiVersion, kind, isAccepted) => {
    expect(coreKinds.find(apiVersion, kind).found).toBe(isAccepted);
  });

  it('accept what they write', () => {
    for (const kind of coreKinds.kinds)
      for (const { apiVersion, name } of [{ apiVersion: kind.apiVersion, name: kind.bareName }, ...kind.aliases])
        expect(coreKinds.find(apiVersion, name)).toMatchObject({ found: true, kind: { name: kind.name } });
  });

  it('are in the table, whatever a kind says', () => {
    for (const kind of coreKinds.kinds)
      for (const { group, versions: of } of listGroups(kind)) {
        expect(groups).toContain(group);
        expect([kind.name, group, of.length]).not.toEqual([kind.name, group, 0]);
      }
  });

  it('decide every group, version and kind: accepted by the table, or refused with the groups that are meant', () => {
    const word = fc.stringMatching(/^[a-z]{1,8}(\.[a-z]{1,8}){0,3}$/);
    fc.assert(
      fc.property(
        fc.oneof(fc.constantFrom(...groups), word),
        fc.oneof(fc.constantFrom(...versions), fc.stringMatching(/^v[0-9](alpha[0-9])?$/)),
        fc.oneof(fc.constantFrom(...names), fc.stringMatching(/^[A-Z][a-z]{1,8}$/)),
        (group, version, name) => {
          const found = coreKinds.find(group === '' ? version : `${group}/${version}`, name);
          const accepting = called(name).filter((kind) => isOfGroup(kind, { group, version }));
          if (found.found) return expect([found.alias ?? found.kind]).toEqual(accepting);
          expect(accepting).toEqual([]);
          expect(found.sameNamed).toEqual(called(name));
          for (const kind of found.sameNamed)
            for (const one of listGroups(kind))
              expect([one.group, one.versions.includes(version)]).not.toEqual([group, true]);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
