import {
  checkComputedLabels,
  effectiveLabel,
  hasEffectiveLabels,
  isMadeHere,
  type ControlPlane,
} from './computed-labels';
import { checkLabels, isLabelKey, isLabelValue, labelsMatch, type Labels } from './labels';
import { FieldPath } from './violation';

const at = FieldPath.at('labels');

describe('label syntax', () => {
  it.each(['a', 'A_b.c-1', 'kuma.io/zone', 'a'.repeat(63), `${'a.'.repeat(126)}a/b`])('%s is a key', (key) => {
    expect(isLabelKey(key)).toBe(true);
  });

  it.each([
    '',
    '/',
    'a/',
    '/a',
    'a/b/c',
    '-a',
    'a-',
    'a b',
    'A.b/c',
    'a..b/c',
    'a'.repeat(64),
    `${'a'.repeat(254)}/b`,
    'é',
  ])('"%s" is no key', (key) => {
    expect(isLabelKey(key)).toBe(false);
  });

  it.each<[string, boolean]>([
    ['', true],
    ['a', true],
    ['A-_.1', true],
    ['a'.repeat(63), true],
    ['a'.repeat(64), false],
    ['-a', false],
    ['a b', false],
    ['a/b', false],
    ['a\n', false],
  ])('"%s" as a value: %s', (value, want) => {
    expect(isLabelValue(value)).toBe(want);
  });

  it('names every bad key and value by its path', () => {
    const found = checkLabels({ ok: 'yes', 'a b': 'c', 'kuma.io/x': 'd e' }, at);
    expect(found.map((violation) => violation.field)).toEqual(['labels["a b"]', 'labels["kuma.io/x"]']);
  });

  it('lets a display name be as long as a name', () => {
    expect(checkLabels({ 'kuma.io/display-name': 'a'.repeat(200) }, at)).toEqual([]);
  });
});

describe('labelsMatch', () => {
  it.each<[Record<string, string>, boolean]>([
    [{}, true],
    [{ a: '1' }, true],
    [{ a: '1', b: '2' }, true],
    [{ a: '2' }, false],
    [{ c: '1' }, false],
    [{ c: '' }, false],
  ])('%j: %s', (wanted, want) => {
    expect(labelsMatch(wanted, { a: '1', b: '2' })).toBe(want);
  });
});

describe('checkComputedLabels', () => {
  const computed = { 'kuma.io/zone': 'east', 'kuma.io/origin': 'zone' };

  it.each<[string, Record<string, string>, string[]]>([
    ['its own', { team: 'db' }, []],
    ['the computed ones', computed, []],
    ['another value', { 'kuma.io/zone': 'west' }, ['is computed and must be "east"; got "west"']],
    ['one that is absent here', { 'kuma.io/mesh': 'default' }, ['is computed and absent here; leave it out']],
    ['the namespace that is left out', { 'k8s.kuma.io/namespace': 'default' }, []],
    ['another namespace', { 'k8s.kuma.io/namespace': 'shop' }, ['is computed and absent here; leave it out']],
  ])('takes a document with %s for what it is', (_, given, reasons) => {
    expect(checkComputedLabels(given, computed, at).map((violation) => violation.reason)).toEqual(reasons);
  });
});

describe('effectiveLabel', () => {
  const id = { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name: 'redis' };
  const [namespace, serviceName] = ['k8s.kuma.io/namespace', 'k8s.kuma.io/service-name'];

  it.each<[string, { id?: Partial<typeof id>; labels?: Labels }, string, string | undefined]>([
    ['stored', { labels: { a: 'b' } }, 'a', 'b'],
    ['absent', { labels: { a: 'b' } }, 'c', undefined],
    ['implied namespace', {}, namespace, 'default'],
    ['implied namespace of a kind without namespaces', { id: { namespace: '' } }, namespace, 'default'],
    ['stored namespace', { labels: { [namespace]: 'shop' } }, namespace, 'shop'],
    ['implied service name', {}, serviceName, 'redis'],
    ['stored service name', { labels: { [serviceName]: 'cache' } }, serviceName, 'cache'],
    ['not what every object inherits', {}, 'constructor', undefined],
  ])('%s', (_, part, key, want) => {
    expect(effectiveLabel({ id: { ...id, ...part.id }, labels: part.labels ?? {} }, key)).toBe(want);
  });

  it.each<[Labels, boolean]>([
    [{}, true],
    [{ a: 'b', [namespace]: 'default', [serviceName]: 'redis' }, true],
    [{ a: 'c' }, false],
    [{ a: 'b', [namespace]: 'shop' }, false],
  ])('hasEffectiveLabels %j: %s', (wanted, want) => {
    expect(hasEffectiveLabels({ id, labels: { a: 'b' } }, wanted)).toBe(want);
  });
});

describe('isMadeHere', () => {
  const id = { kind: 'K', mesh: '', zone: '', namespace: '', name: 'x' };
  const global: ControlPlane = { role: 'global' };
  const east: ControlPlane = { role: 'zone', zone: 'east', federated: true };

  it.each<[string, ControlPlane, string, string, boolean]>([
    ['its own, on the global', global, '', 'global', true],
    ["a zone's, on the global", global, 'east', 'zone', false],
    ['its own, in a zone', east, 'east', 'zone', true],
    ["the global's, in a zone", east, '', 'global', false],
    ["another zone's, in a zone", east, 'west', 'global', false],
    ['a mesh of a zone by itself', east, '', 'zone', true],
  ])('%s', (...[, cp, zone, origin, want]) => {
    expect(isMadeHere({ id: { ...id, zone }, labels: { 'kuma.io/origin': origin } }, cp)).toBe(want);
  });
});
