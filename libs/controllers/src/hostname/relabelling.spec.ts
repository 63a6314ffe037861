import * as fc from 'fast-check';
import { HostnameGenerator } from '@causeway/kinds';
import { isComputedLabel, type Labels } from '@causeway/resources';
import { generator, mesh, NamingZone, put, service } from '../../../../test/support/naming-zone';

const seed =
  '{{ label "k8s.kuma.io/service-name" }}.{{ label "k8s.kuma.io/namespace" }}.svc.mesh.{{ label "kuma.io/zone" }}';

/** Returns the warnings for an operator who writes such a generator. */
function warnings(template: string, labels: Labels = {}): readonly string[] {
  return HostnameGenerator.warnings('g', { selector: { meshService: { labels } }, template });
}

describe('theft by relabelling (T001-11; seed 001: only the operator manages hostnames)', () => {
  const [thief, victim] = [service('thief'), service('victim')];

  test('what the warning warns of: the owner of an older service relabels it and has the name of another', async () => {
    const text = '{{ label "app" }}.mesh';
    expect(warnings(text)).toEqual([
      'spec.template: reads label "app", which service owners can set; names can be taken by relabelling',
    ]);
    const zone = await new NamingZone().start(
      mesh('default'),
      put(thief),
      put(victim, { app: 'payments' }),
      generator('g', text),
    );
    await zone.settle();
    expect(await zone.shown(victim)).toEqual(['payments.mesh Available']);
    await zone.user(put(thief, { app: 'payments' }));
    await zone.settle();
    expect(await zone.shown(thief)).toEqual(['payments.mesh Available']);
    expect(await zone.shown(victim)).toEqual([
      'payments.mesh NotAvailable clash with MeshService east/default/thief: it is the older service',
    ]);
  });

  test('the same by a label that the selector reads', async () => {
    expect(warnings('{{ name }}.mesh', { team: 'db', 'kuma.io/zone': 'east' })).toEqual([
      'spec.selector: reads label "team", which service owners can set; names can be taken by relabelling',
    ]);
    const zone = await new NamingZone().start(
      mesh('default'),
      put(thief),
      put(victim, { team: 'db' }),
      generator('g', 'db.mesh', { selector: { meshService: { labels: { team: 'db' } } } }),
    );
    await zone.settle();
    await zone.user(put(thief, { team: 'db' }));
    await zone.settle();
    expect(await zone.shown(thief)).toEqual(['db.mesh Available']);
  });

  test("the seed's own template reads one label that owners can set", () => {
    expect(warnings(seed, { 'kuma.io/zone': 'east' })).toEqual([expect.stringContaining('"k8s.kuma.io/service-name"')]);
  });

  test('names built on name and computed labels are safe: no relabelling changes any address', async () => {
    const text = '{{ name }}.{{ .Namespace }}.{{ label "kuma.io/zone" }}.{{ .DisplayName }}.{{ .Mesh }}.mesh';
    expect(warnings(text, { 'kuma.io/origin': 'zone', 'kuma.io/env': 'universal' })).toEqual([]);
    const computed = { 'kuma.io/zone': 'east', 'kuma.io/origin': 'zone', 'kuma.io/env': 'universal' };
    const settable: fc.Arbitrary<Labels> = fc.dictionary(
      fc.constantFrom('app', 'team', 'k8s.kuma.io/service-name', 'kuma.io/service', 'kuma.io/managed-by', 'name'),
      fc.constantFrom('victim', 'thief', 'default', 'east', ''),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(thief, victim), settable), { maxLength: 5 }),
        async (relabellings) => {
          const selector = { meshService: { labels: { 'kuma.io/origin': 'zone', 'kuma.io/env': 'universal' } } };
          const zone = await new NamingZone().start(
            mesh('default'),
            put(thief, computed),
            put(victim, computed),
            generator('g', text, { selector }),
          );
          await zone.settle();
          const { writes } = zone;
          for (const [id, labels] of relabellings) {
            expect(Object.keys(labels).some(isComputedLabel)).toBe(false);
            await zone.user(put(id, { ...labels, ...computed }));
            await zone.settle();
          }
          expect(await zone.shown(victim)).toEqual(['victim.default.east.victim.default.mesh Available']);
          expect(zone.writes).toBe(writes);
        },
      ),
      { numRuns: 60 },
    );
  });
});
