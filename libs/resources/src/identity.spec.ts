import fc from 'fast-check';
import {
  compareIdentities,
  describeIdentity,
  identityKey,
  isResourceKey,
  parseIdentityKey,
  zoneOfKey,
  type Identity,
} from './identity';
import { jsonEqual, type JsonValue } from './json';
import { FieldPath } from './violation';

const id = (zone: string, namespace: string, name: string, mesh = 'default'): Identity => ({
  kind: 'MeshService',
  mesh,
  zone,
  namespace,
  name,
});

describe('identities', () => {
  it.each([id('east', 'default', 'redis'), id('', '', 'a.b', ''), id('', 'x', 'y')])('%j survives its key', (one) => {
    expect(parseIdentityKey(identityKey(one))).toEqual(one);
    expect(zoneOfKey(identityKey(one))).toBe(one.zone);
  });

  it('survive their keys whatever their names are, and no other text has the form of a key', () => {
    const part = fc.stringMatching(/^[a-zA-Z0-9.-]{0,12}$/);
    const identity = fc.record({ kind: part, mesh: part, zone: part, namespace: part, name: part });
    fc.assert(
      fc.property(identity, identity, (one, other) => {
        const key = identityKey(one);
        expect([isResourceKey(key), parseIdentityKey(key), zoneOfKey(key)]).toEqual([true, one, one.zone]);
        expect(key === identityKey(other)).toBe(jsonEqual({ ...one }, { ...other }));
        expect([isResourceKey(`${key}/x`), isResourceKey(one.name)]).toEqual([false, false]);
      }),
    );
  });

  it('keep apart what differs in any part', () => {
    const all = [id('a', 'b', 'c'), id('', 'a', 'c'), id('a', '', 'c'), id('b', 'a', 'c'), id('a', 'b', 'c', 'm')];
    expect(new Set(all.map(identityKey)).size).toBe(all.length);
  });

  it('have one order, whatever they came in', () => {
    const sorted = [id('', 'x', 'a'), id('a', 'x', 'b'), id('a', 'x', 'c'), id('b', 'w', 'a')];
    expect([...sorted].reverse().sort(compareIdentities)).toEqual(sorted);
    expect(compareIdentities(id('a', 'b', 'c'), id('a', 'b', 'c'))).toBe(0);
  });

  it('are described without empty parts', () => {
    expect(describeIdentity(id('east', 'default', 'redis'))).toBe('MeshService east/default/redis');
    expect(describeIdentity(id('', '', 'redis'))).toBe('MeshService redis');
  });
});

describe('jsonEqual', () => {
  it.each<[JsonValue | undefined, JsonValue | undefined, boolean]>([
    [{ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }, true],
    [{ a: undefined }, {}, true],
    [{}, { a: undefined }, true],
    [{ a: null }, {}, false],
    [[1, 2], [2, 1], false],
    [[1], [1, 1], false],
    [{ 0: 1 }, [1], false],
    [[], {}, false],
    ['1', 1, false],
    [undefined, undefined, true],
    [null, undefined, false],
  ])('%j and %j: %s', (a, b, want) => {
    expect(jsonEqual(a, b)).toBe(want);
    expect(jsonEqual(b, a)).toBe(want);
  });
});

describe('FieldPath', () => {
  it('is written as users write fields', () => {
    const at = FieldPath.at().field('spec').field('ports').index(0).field('app-protocol');
    expect(at.toString()).toBe('spec.ports[0].app-protocol');
    expect(FieldPath.at('labels').field('kuma.io/zone').violation('x')).toEqual({
      field: 'labels["kuma.io/zone"]',
      reason: 'x',
      rule: 'invalid',
    });
    expect(FieldPath.at().field('a b').toString()).toBe('["a b"]');
  });
});
