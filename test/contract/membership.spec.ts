import { connectApi, type ApiClient } from '@causeway/api-client';
import type { DeleteOptions } from '@causeway/api-client/testing';
import type { JsonObject } from '@causeway/resources';
import { OPERATOR_TOKEN } from '../grpc/grpc-fixture';
import { failure, INTERFACES, type Served } from './served-plane';

const mesh = (name: string, team?: string, labels: JsonObject = {}): JsonObject => ({
  type: 'Mesh',
  name,
  labels,
  spec: team === undefined ? {} : { namespaceSelector: { matchLabels: { team } } },
});
const namespace = (name: string, team: string): JsonObject => ({ type: 'Namespace', name, labels: { team } });
const service = (name: string, place: JsonObject): JsonObject => ({
  type: 'MeshService',
  name,
  ...place,
  spec: { selector: { dataplaneTags: { app: name } }, ports: [{ port: 80 }] },
});
const TERMINATING = { 'causeway.io/terminating': 'true' };

describe.each(INTERFACES)('membership of meshes over %s', (_, serve) => {
  let served: Served;
  let api: ApiClient;
  beforeEach(async () => {
    served = await serve({ role: 'zone', zone: 'east', federated: false });
    api = await connectApi({ server: new URL(`${served.scheme}://127.0.0.1:${served.port}`), token: OPERATOR_TOKEN });
    await apply(mesh('a', 'a'), mesh('b', 'b'), namespace('shop', 'a'), namespace('pay', 'b'));
  });
  afterEach(async () => {
    api.close();
    await served.close();
  });

  /** The mesh of each document, or its refusal. */
  async function apply(...documents: readonly JsonObject[]): Promise<readonly unknown[]> {
    const { results } = await api.apply(documents);
    return results.map(({ id, error }) =>
      error ? [error.code, ...error.violations.map(({ field, reason }) => [field, reason])] : id?.mesh,
    );
  }

  const refused = (reason: string): unknown => ['invalid', ['mesh', reason]];

  it('T003-24 T003-25 a document that names no mesh is in the mesh of its namespace, else in the expected one', async () => {
    const documents = ['shop', 'pay', 'elsewhere'].map((name) => service('x', { namespace: name }));
    expect(await apply(...documents)).toEqual(['a', 'b', 'default']);
    expect(await apply(service('y', { namespace: 'shop' }))).toEqual(['a']);
    const read = await api.get({ kind: 'MeshService', mesh: 'a', namespace: 'shop', name: 'y' });
    expect(read.document).toMatchObject({ mesh: 'a', namespace: 'shop' });
    const written = { ...read.document, labels: { changed: 'yes' } };
    expect(await apply(written)).toEqual(['a']);
  });

  it('T003-23 a namespace of two meshes takes nothing new, and both are named', async () => {
    expect(await apply(service('before', { namespace: 'shop' }), mesh('c', 'a'))).toEqual(['a', '']);
    const overlap = refused('found multiple matching meshes for namespace: shop, expecting 1 but found 2: a,c');
    const documents = [{}, { mesh: 'a' }].map((place) => service('x', { namespace: 'shop', ...place }));
    expect(await apply(...documents)).toEqual([overlap, overlap]);
    for (const document of documents) expect(await apply(document)).toEqual([overlap]);
    expect(await apply(service('before', { namespace: 'shop', labels: { a: 'b' } }))).toEqual(['a']);
  });

  it('T003-25 a mesh that is named must be the mesh of the namespace', async () => {
    const mismatch = refused('namespace "shop" belongs to mesh "a" by its namespaceSelector; got mesh "b"');
    expect(await apply(service('x', { namespace: 'shop', mesh: 'b' }))).toEqual([mismatch]);
    expect(await apply(service('x', { namespace: 'shop', mesh: 'b' }), service('x', { namespace: 'pay' }))).toEqual([
      mismatch,
      'b',
    ]);
    const nowhere = refused('there is no mesh "none"');
    expect(await apply(service('x', { mesh: 'none' }))).toEqual([nowhere]);
  });

  it('T003-27 a terminating mesh takes nothing new', async () => {
    await apply(mesh('b', 'b', TERMINATING));
    const terminating = refused('unable to create new content in mesh b because it is being terminated');
    expect(await apply(service('x', { namespace: 'pay', mesh: 'b' }))).toEqual([terminating]);
    expect(await apply(service('x', { namespace: 'pay' }), mesh('b', 'b'), service('y', { namespace: 'pay' }))).toEqual(
      ['default', '', 'b'],
    );
  });

  it('T003-28 a mesh with members stays, with their counts; with terminate it takes no more, and goes when it is empty', async () => {
    const b = { kind: 'Mesh', name: 'b' };
    const x = { kind: 'MeshService', mesh: 'b', namespace: 'pay', name: 'x' };
    await apply(service('x', { namespace: 'pay' }));
    const before = await api.get(b);
    const refusal = async (options: DeleteOptions): Promise<unknown> => {
      const { code, message } = await failure(api.delete(b, options));
      return { code, message };
    };
    const inUse = {
      code: 'conflict',
      message: 'objects belong to this mesh exists, please delete them to proceed. MeshService: 1',
    };
    expect(await refusal({})).toEqual(inUse);
    expect(await refusal({ terminate: true, dryRun: true })).toEqual(inUse);
    expect(await api.get(b)).toMatchObject({ document: before.document, etag: before.etag });
    const message = `${inUse.message}; the mesh is being terminated and takes no new members`;
    expect(await refusal({ terminate: true })).toEqual({ ...inUse, message });
    expect(await api.get(b)).toMatchObject({ document: { labels: TERMINATING } });
    expect(await apply(service('y', { namespace: 'pay', mesh: 'b' }))).toEqual([
      refused('unable to create new content in mesh b because it is being terminated'),
    ]);
    await api.delete(x);
    expect(await api.delete(b, { terminate: true })).toEqual([]);
    expect(await failure(api.get(b))).toMatchObject({ code: 'not-found' });
  });
});
