import fc from 'fast-check';
import { NameHashMap } from './name-hash-map';

interface NamedEntry {
  readonly name: string;
  readonly made: number;
}

const name = fc.integer({ min: 0, max: 60 }).map((n) => `name-${n}`);
const steps = fc.array(fc.record({ type: fc.constantFrom('add', 'add', 'add', 'delete', 'replace', 'get'), name }), {
  maxLength: 400,
});

describe('EntriesByName', () => {
  test('holds what a Map would hold', () => {
    fc.assert(
      fc.property(steps, (several) => {
        const table = new NameHashMap<NamedEntry>((entry) => entry.name);
        const map = new Map<string, NamedEntry>();
        several.forEach((step, made) => {
          const entry = { name: step.name, made };
          const held = map.get(step.name);
          switch (step.type) {
            case 'add':
              if (!held) map.set(step.name, entry);
              return expect(table.add(entry)).toBe(held ?? entry);
            case 'replace':
              if (held) map.set(step.name, entry);
              return table.replace(entry);
            case 'delete':
              map.delete(step.name);
              return table.delete(step.name);
            case 'get':
              return expect(table.get(step.name)).toBe(held);
          }
        });
        expect(new Set(table.values())).toEqual(new Set(map.values()));
      }),
      { numRuns: 300 },
    );
  });

  test('holds many, and none after they are gone', () => {
    const table = new NameHashMap<string>((each) => each);
    const names = Array.from({ length: 20_000 }, (_, i) => `service-${i}.zone-${i % 7}.mesh.local`);
    for (const each of names) table.add(each);
    expect(names.every((each) => table.get(each) === each)).toBe(true);
    expect([...table.values()]).toEqual(names);
    for (const each of names) table.delete(each);
    expect([...table.values()]).toEqual([]);
    expect(names.every((each) => table.get(each) === undefined)).toBe(true);
  });
});
