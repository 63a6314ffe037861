import fc from 'fast-check';
import { identityKey, type ResourceKey } from '@causeway/resources';
import { RoundRobinKeys } from './round-robin-keys';

const key = (zone: string, name: string | number): ResourceKey =>
  identityKey({ kind: 'MeshService', mesh: 'default', zone, namespace: 'default', name: String(name) });

it('takes one key of each zone in turn, oldest first', () => {
  const keys = new RoundRobinKeys<number>();
  for (let i = 0; i < 1_000; i++) keys.set(key('flooding', i), i);
  keys.set(key('east', 'redis'), -1);
  expect([...keys].slice(0, 4).map(([, value]) => value)).toEqual([0, -1, 1, 2]);
});

it('can be taken from while it is walked, and goes on with the others', () => {
  const keys = new RoundRobinKeys<string>();
  for (const name of ['a', 'b', 'c']) keys.set(key('east', name), name);
  keys.set(key('west', 'd'), 'd');
  const taken: string[] = [];
  for (const [one, value] of keys) {
    keys.delete(one);
    taken.push(value);
    if (taken.length === 2) keys.set(key('east', 'late'), 'late');
  }
  expect(taken).toEqual(['a', 'd', 'b', 'c', 'late']);
  expect(keys.size).toBe(0);
});

it('holds what a map would hold', () => {
  const command = fc.record({
    zone: fc.constantFrom('', 'east', 'west'),
    name: fc.integer({ min: 0, max: 5 }),
    put: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(command), (commands) => {
      const [keys, map] = [new RoundRobinKeys<number>(), new Map<string, number>()];
      commands.forEach(({ zone, name, put }, i) => {
        if (put) {
          keys.set(key(zone, name), i);
          map.set(key(zone, name), i);
        } else {
          keys.delete(key(zone, name));
          map.delete(key(zone, name));
        }
        expect(keys.has(key(zone, name))).toBe(put);
      });
      expect(keys.size).toBe(map.size);
      expect(new Map(keys)).toEqual(map);
    }),
  );
});
