import { parse } from 'yaml';
import { globalIdentity, type Identity, type JsonObject, type Labels, type Resource } from '@causeway/resources';
import { meshAccess, findMtlsMode } from './access';
import { designate } from './membership';
import { Meshes } from './meshes';

const OURS = 'causeway.io/control-plane';

/** Rows by kind, and a version for each kind that grows with each change. */
class Rows {
  private readonly rows = new Map<string, Resource>();
  private version = 0;

  set(id: Identity, spec: JsonObject, labels: Labels = {}): void {
    this.version++;
    const creationOrder = this.rows.get(JSON.stringify(id))?.creationOrder ?? this.version;
    const origin = { incarnation: 'i', revision: 1, committedAt: 1 };
    const times = { createdAt: 1, modifiedAt: 1, revision: this.version, origin };
    const row = { id, uid: 'u', labels, spec, generation: 1, creationOrder, freed: [], ...times };
    this.rows.set(JSON.stringify(id), row);
  }

  remove(id: Identity): void {
    this.version++;
    this.rows.delete(JSON.stringify(id));
  }

  mesh(name: string, spec: JsonObject = {}, labels: Labels = {}): void {
    this.set(globalIdentity('Mesh', name), { controllerName: OURS, ...spec }, labels);
  }

  get(id: Identity): Resource | undefined {
    return this.rows.get(JSON.stringify(id));
  }

  *ofKind(kind: string): Iterable<Resource> {
    for (const row of this.rows.values()) if (row.id.kind === kind) yield row;
  }

  getVersion(): number {
    return this.version;
  }
}

function given(): { rows: Rows; meshes: Meshes } {
  const rows = new Rows();
  const owner = { controllerName: OURS, expectedName: 'default' };
  return { rows, meshes: new Meshes({ index: rows, owner, parse }) };
}

const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'p' };
const parameters = globalIdentity('MeshParameters', 'p');
const configMap = { ...globalIdentity('ConfigMap', 'p'), namespace: 'n' };

describe('whose a Mesh is', () => {
  it('T000-22 the expected Mesh is served as with an empty spec, missing or foreign', () => {
    const { rows, meshes } = given();
    const assumed = { name: 'default', claim: 'assumed', parameters: {}, access: meshAccess({}), terminating: false };
    expect(meshes.state('default')).toEqual(assumed);
    rows.mesh('default', { controllerName: 'x.io/y', parametersRef });
    expect(meshes.state('default')).toMatchObject({ claim: 'assumed', parameters: {} });
    expect(meshes.isServed('default')).toBe(true);
  });

  it('T000-07 another Mesh of somebody else is not served, nor one that does not exist', () => {
    const { rows, meshes } = given();
    rows.mesh('theirs', { controllerName: 'x.io/y' });
    expect([meshes.isServed('theirs'), meshes.isServed('none')]).toEqual([false, false]);
    expect(meshes.state('theirs')?.claim).toBe('foreign');
  });

  it('a Mesh without a controller, as Kuma has them, is ours', () => {
    const { rows, meshes } = given();
    rows.set(globalIdentity('Mesh', 'kuma'), {});
    expect(meshes.state('kuma')?.claim).toBe('ours');
  });
});

describe('the settings of a Mesh', () => {
  it.each([
    ['T000-30', { kind: 'ConfigMap', name: 'p' }, 'parametersRef.namespace is absent'],
    ['T000-31', { ...parametersRef, namespace: 'n' }, 'MeshParameters has no namespaces'],
    ['T000-32', parametersRef, 'MeshParameters "p" of group "causeway.io", which does not exist'],
    ['T000-33', { kind: 'Secret', name: 'p', namespace: 'n' }, 'only MeshParameters'],
    ['T000-33', { kind: 'MeshParameters', name: 'p' }, 'only MeshParameters'],
  ])('%s %j is refused: %s', (_, ref, message) => {
    const { rows, meshes } = given();
    rows.mesh('default', { parametersRef: ref });
    expect(meshes.state('default')?.fault).toContain(message);
  });

  it.each([
    ['exportDefault: [', 'is not YAML'],
    ['vipRanges: {MeshService: banana}', 'vipRanges MeshService: must be a range'],
    ['nonsense: 1', 'nonsense'],
    ['- 1', 'must be an object'],
  ])('T000-34 %j in a ConfigMap is refused, and mended it is taken', (text, message) => {
    const { rows, meshes } = given();
    rows.mesh('default', { parametersRef: { kind: 'ConfigMap', name: 'p', namespace: 'n' } });
    rows.set(configMap, { data: { 'parameters.yaml': text } });
    expect(meshes.state('default')?.fault).toContain(message);
    expect(meshes.state('default')?.parameters).toEqual({});
    rows.set(configMap, { data: { 'parameters.yaml': 'exportDefault: None' } });
    expect(meshes.state('default')).toMatchObject({ claim: 'ours', parameters: { exportDefault: 'None' } });
    expect(meshes.state('default')?.fault).toBeUndefined();
  });

  it('T000-24 they come and go with their object; a version in the group is dropped', () => {
    const { rows, meshes } = given();
    rows.mesh('default', { parametersRef: { ...parametersRef, group: 'causeway.io/v1alpha1' } });
    expect(meshes.state('default')?.fault).toContain('does not exist');
    rows.set(parameters, { exportDefault: 'None' });
    expect(meshes.state('default')?.parameters).toEqual({ exportDefault: 'None' });
    rows.remove(parameters);
    expect(meshes.state('default')?.fault).toContain('does not exist');
  });

  it('ranges of two meshes that share addresses: the older keeps them, the message names both', () => {
    const { rows, meshes } = given();
    for (const [mesh, range] of Object.entries({ b: '245.0.0.0/8', a: '245.1.0.0/16', c: '246.0.0.0/8' })) {
      rows.mesh(mesh, { parametersRef: { ...parametersRef, name: mesh } });
      rows.set(globalIdentity('MeshParameters', mesh), { vipRanges: { MeshService: range } });
    }
    expect(meshes.state('b')?.fault).toBeUndefined();
    expect(meshes.state('c')?.fault).toBeUndefined();
    expect(meshes.state('a')?.fault).toMatch(/mesh "a".*mesh "b", which is older/);
    rows.set(globalIdentity('MeshParameters', 'b'), { vipRanges: { MeshService: '247.0.0.0/8' } });
    expect(meshes.state('a')?.fault).toBeUndefined();
  });
});

describe('to which mesh a namespace belongs', () => {
  const label = (rows: Rows, labels: Labels): void => rows.set(globalIdentity('Namespace', 'n'), {}, labels);

  it.each([
    ['absent', undefined, { a: 'b' }, []],
    ['empty', {}, {}, ['m']],
    ['labels', { matchLabels: { a: 'b' } }, { a: 'b' }, ['m']],
    ['labels', { matchLabels: { a: 'b' } }, { a: 'c' }, []],
    ['In', { matchExpressions: [{ key: 'a', operator: 'In', values: ['b', 'c'] }] }, { a: 'c' }, ['m']],
    ['NotIn', { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['b'] }] }, {}, ['m']],
    ['Exists', { matchExpressions: [{ key: 'a', operator: 'Exists' }] }, { a: '' }, ['m']],
    ['DoesNotExist', { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] }, { a: '' }, []],
    ['the name', { matchLabels: { 'kubernetes.io/metadata.name': 'n' } }, {}, ['m']],
  ])('T003-21 T003-22 selector %s: %j on %j selects %j', (_, namespaceSelector, labels, expected) => {
    const { rows, meshes } = given();
    rows.mesh('m', namespaceSelector ? { namespaceSelector } : {});
    label(rows, labels);
    expect(meshes.listCandidates('n')).toEqual(expected);
  });

  it('T003-23 T003-25 T003-27 several, one and none decide as the seed says', () => {
    const { rows, meshes } = given();
    expect(designate(meshes, 'n', undefined)).toEqual({ ok: true, mesh: 'default' });
    expect(designate(meshes, 'n', 'x')).toEqual({ ok: true, mesh: 'x' });
    rows.mesh('b', { namespaceSelector: { matchLabels: { a: 'b' } } });
    label(rows, { a: 'b' });
    expect(designate(meshes, 'n', undefined)).toEqual({ ok: true, mesh: 'b' });
    expect(designate(meshes, 'n', 'x')).toMatchObject({ ok: false, rule: 'mismatch' });
    expect(designate(meshes, 'other', 'x')).toEqual({ ok: true, mesh: 'x' });
    rows.mesh('a', { namespaceSelector: {} });
    expect(designate(meshes, 'n', 'b')).toMatchObject({
      rule: 'overlap',
      reason: 'found multiple matching meshes for namespace: n, expecting 1 but found 2: a,b',
    });
    rows.mesh('a', { namespaceSelector: {} }, { 'causeway.io/terminating': 'true' });
    expect(designate(meshes, 'n', undefined)).toEqual({ ok: true, mesh: 'b' });
    expect(designate(meshes, 'n', 'b')).toEqual({ ok: true, mesh: 'b' });
    expect(designate(meshes, 'other', 'a')).toMatchObject({ ok: false, rule: 'terminating' });
    expect(designate(meshes, 'n', 'a')).toMatchObject({ ok: false, rule: 'terminating' });
  });
});

describe('access to the workloads of a mesh', () => {
  const label = (app: string) => ({ app });
  const override = (app: string, mtls: 'Strict' | 'Permissive', port?: number) => ({
    selector: { matchLabels: label(app) },
    ...(port !== undefined && { port }),
    mtls,
  });

  it('is strict, and open to every verified identity, where nothing is said', () => {
    expect(meshAccess({})).toEqual({
      needsClientCertHeader: false,
      mtls: 'Strict',
      defaultAccess: 'Allow',
      overrides: [],
      revoked: [],
      maxConnectionAge: 3_600_000,
    });
  });

  it('the first override that selects an inbound counts', () => {
    const mtlsOverrides = [override('a', 'Permissive', 80), override('a', 'Strict'), override('b', 'Permissive')];
    const access = meshAccess({ mtls: 'Off', mtlsOverrides, maxConnectionAge: '90s' });
    const modes = [
      findMtlsMode(access, label('a'), 80),
      findMtlsMode(access, label('a'), 81),
      findMtlsMode(access, label('b'), 81),
      findMtlsMode(access, label('c'), 80),
    ];
    expect(modes).toEqual(['Permissive', 'Strict', 'Permissive', 'Off']);
    expect(access.maxConnectionAge).toBe(90_000);
  });

  it('is unknown while the settings cannot be read, and of a foreign Mesh; ranges in conflict do not matter', () => {
    const { rows, meshes } = given();
    const access = () => meshes.state('shop')?.access;
    rows.mesh('shop', { parametersRef });
    expect(access()).toBeUndefined();
    rows.set(parameters, { defaultAccess: 'Deny', vipRanges: { MeshService: '245.0.0.0/12' } });
    expect(access()).toMatchObject({ mtls: 'Strict', defaultAccess: 'Deny' });
    rows.mesh('younger', { parametersRef });
    expect(meshes.state('younger')?.fault).toBeDefined();
    expect(meshes.state('younger')?.access).toMatchObject({ defaultAccess: 'Deny' });
    const selector = { matchLabels: { app: 'a' } };
    const unknown: readonly JsonObject[] = [
      { defaultAccess: 'Perhaps' },
      { mtls: 'Soon' },
      { mtls: { mode: 'Strict' } },
      { fromTheFuture: true },
      { mtlsOverrides: [{ selector, mtls: 'Soon' }] },
      { mtlsOverrides: { selector } },
      { revokedIdentities: 'all' },
    ];
    for (const spec of unknown) {
      rows.set(parameters, spec);
      expect(access()).toBeUndefined();
    }
    rows.mesh('shop', { controllerName: 'x.io/y' });
    expect(access()).toBeUndefined();
  });
});
