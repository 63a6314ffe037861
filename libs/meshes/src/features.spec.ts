import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FEATURES, isFeatureEnabled, supportedFeatures, type Feature } from './features';

const ROOT = join(__dirname, '..', '..', '..');

/** The tests of a feature that are not in the tree. */
function missingTests({ tests }: Feature): readonly string[] {
  return tests.filter((test) => {
    const [file = '', words = ''] = test.split(' › ');
    return words === '' || !existsSync(join(ROOT, file)) || !readFileSync(join(ROOT, file), 'utf8').includes(words);
  });
}

const proven = (...names: readonly string[]): Feature[] => names.map((name) => ({ name, tests: ['a › b'] }));

describe('the registry of features', () => {
  it('T000-12 names tests that are in the tree, and only what is proven is published', () => {
    expect(FEATURES.flatMap(missingTests)).toEqual([]);
    const names = FEATURES.filter(({ tests }) => tests.length > 0).map(({ name }) => name);
    expect(new Set(supportedFeatures().map(({ name }) => name))).toEqual(new Set(names));
  });

  it('T000-12 a test that is not in the tree is found, by its file and by its title', () => {
    const own = 'libs/meshes/src/features.spec.ts';
    const tests = ['libs/meshes/gone.spec.ts › x', `${own} › ${'no '.repeat(2)}such title`, own];
    expect(missingTests({ name: 'x', tests: [...tests, `${own} › is found, by its file`] })).toEqual(tests);
  });

  it('T000-40 has no feature for the Mesh resource, and each once', () => {
    const names = FEATURES.map(({ name }) => name);
    expect(names.filter((name) => /XMesh|MeshResource/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeLessThanOrEqual(64);
  });

  it('T000-37 the published list is in order of code units, without doubles, cut at 64', () => {
    const given = proven('OffClusterGateway', 'MeshHTTPRoute', 'MeshConsumerRoute', 'MeshHTTPRoute', 'a', 'Ä');
    const sorted = ['MeshConsumerRoute', 'MeshHTTPRoute', 'OffClusterGateway', 'a', 'Ä'];
    expect(supportedFeatures(given)).toEqual(sorted.map((name) => ({ name })));
    const many = Array.from({ length: 70 }, (_, i) => `F${String(i).padStart(2, '0')}`);
    expect(supportedFeatures(proven(...many.toReversed()))).toEqual(many.slice(0, 64).map((name) => ({ name })));
    expect(supportedFeatures([{ name: 'x', tests: [] }])).toEqual([]);
  });

  it('T000-22 a feature that needs a Mesh is off where the Mesh is assumed or of somebody else', () => {
    const [plain] = proven('HTTPRoute');
    const claims = (['ours', 'assumed', 'foreign'] as const).map((claim) => ({ claim }));
    const enabled = (feature: Feature): boolean[] => claims.map((state) => isFeatureEnabled(feature, state));
    expect(plain && enabled(plain)).toEqual([true, true, true]);
    expect(plain && enabled({ ...plain, requiresMesh: true })).toEqual([true, false, false]);
    expect(enabled({ name: 'OffClusterGateway', tests: [], requiresMesh: true })).toEqual([false, false, false]);
    expect(FEATURES.filter(({ requiresMesh }) => requiresMesh).map(({ name }) => name)).toEqual(['OffClusterGateway']);
  });
});
