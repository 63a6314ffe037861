import fc from 'fast-check';
import { identityKey, Label, labelsMatch, type Resource, type ResourceKey } from '@causeway/resources';
import { idOf, storedResource } from '../../../../test/support/loop-harness';
import { kumaLabels } from '../routes/kuma-services';
import { SameNamedServices } from './same-named-services';

interface Drawn {
  readonly name: string;
  readonly zone: string;
  readonly namespace: string;
  readonly displayName: string | undefined;
  readonly kubernetes: string | undefined;
  readonly mesh: string;
  /** Zones of Kuma name a service by this label; a hand may leave it out. */
  readonly hasZone: boolean;
}

const oneOf = <T>(...values: T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
const drawn: fc.Arbitrary<Drawn> = fc.record({
  name: oneOf('web', 'api'),
  zone: oneOf('', 'a', 'b', 'c'),
  namespace: oneOf('default', 'other'),
  displayName: oneOf('web', 'web', 'api', undefined),
  kubernetes: oneOf(undefined, undefined, 'ns'),
  mesh: oneOf('default', 'default', 'second'),
  hasZone: fc.boolean(),
});
const steps = fc.array(fc.record({ of: drawn, isGone: fc.boolean() }), { maxLength: 40 });

function service({ name, zone, namespace, displayName, kubernetes, mesh, hasZone }: Drawn): Resource {
  const labels = {
    ...(displayName !== undefined && { [Label.displayName]: displayName }),
    ...(hasZone && zone !== '' && { [Label.zone]: zone }),
    ...(kubernetes !== undefined && { [Label.namespace]: kubernetes }),
  };
  return storedResource({ ...idOf('MeshService', name), zone, namespace, mesh }, { labels });
}

/** Counts by a scan of all others how zones of Kuma would find each service. */
function countNames(
  all: ReadonlyMap<ResourceKey, Resource>,
): ReadonlyMap<ResourceKey, 'several' | 'mistaken' | 'alone'> {
  const verdictOf = (one: Resource): 'several' | 'mistaken' | 'alone' => {
    const name = one.labels[Label.displayName];
    const others = [...all.values()].filter(
      (other) =>
        other !== one &&
        name !== undefined &&
        other.id.mesh === one.id.mesh &&
        other.labels[Label.displayName] === name,
    );
    const isSame = (other: Resource): boolean =>
      other.id.namespace === one.id.namespace && other.labels[Label.namespace] === one.labels[Label.namespace];
    if (others.some(isSame)) return 'several';
    return others.some((other) => labelsMatch(kumaLabels(one), other.labels)) ? 'mistaken' : 'alone';
  };
  return new Map([...all].map(([key, one]) => [key, verdictOf(one)]));
}

it('names each service that is found in another way since a change, and knows who shares its name', () => {
  fc.assert(
    fc.property(steps, (changes) => {
      const table = new SameNamedServices();
      const all = new Map<ResourceKey, Resource>();
      for (const { of, isGone } of changes) {
        const one = service(of);
        const key = identityKey(one.id);
        const [before, after] = [all.get(key), isGone ? undefined : one];
        const was = countNames(all);
        if (after) all.set(key, after);
        else all.delete(key);
        const named = table.put(key, { before, after }, (wanted) => all.get(wanted));
        const now = countNames(all);
        const moved = [...now].filter(([other, counted]) => other !== key && was.get(other) !== counted);
        expect(named).toEqual(expect.arrayContaining(moved.map(([other]) => other)));
        for (const [other, counted] of now)
          expect([other, table.hasOthers(other)]).toEqual([other, counted === 'several']);
      }
    }),
    { numRuns: 500 },
  );
});

it('costs one other at most where a name is in one namespace of many zones', () => {
  const table = new SameNamedServices();
  const all = new Map<ResourceKey, Resource>();
  const named = Array.from({ length: 250 }, (_, n) => {
    const place = { name: 'web', namespace: 'default', displayName: 'web', kubernetes: undefined, mesh: 'default' };
    const after = service({ ...place, zone: `z${n}`, hasZone: true });
    const key = identityKey(after.id);
    all.set(key, after);
    return table.put(key, { before: undefined, after }, (wanted) => all.get(wanted)).length;
  });
  expect(named).toEqual([0, 1, ...Array.from({ length: 248 }, () => 0)]);
});
