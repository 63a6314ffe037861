import { PolicyServiceClient } from '@causeway/proto-gen/testing';
import { shippedDefinition, shippedDefinitionName, shippedPolicies } from '@causeway/policies';
import { globalIdentity } from '@causeway/resources';
import { credentials, Metadata, status, type ServiceError } from '@grpc/grpc-js';
import type { ParsedJson } from '../rest/rest-fixture';
import { plainTokens } from '../support/rest-access';
import { GrpcFixture } from './grpc-fixture';

const ADMIN = 'chihiro:causeway:admins';
const EMPTY = { mesh: '', namespace: '' };

function metadataOf(token: string): Metadata {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  return metadata;
}

describe('PolicyService', () => {
  let grpc: GrpcFixture;
  let client: PolicyServiceClient;
  beforeEach(async () => {
    grpc = await GrpcFixture.open({ verifiers: [plainTokens], open: false });
    client = new PolicyServiceClient(grpc.address, credentials.createInsecure());
    const put = (id: object, spec: object) => ({ type: 'put', id, expect: 'any', labels: {}, spec }) as never;
    const own = { mesh: 'default', zone: 'east', namespace: 'default' };
    const { revision } = await grpc.store.write({
      changes: [
        ...shippedPolicies.map((each) =>
          put(globalIdentity('MetaresourceDefinition', shippedDefinitionName(each)), shippedDefinition(each)),
        ),
        put(globalIdentity('Namespace', 'default'), {}),
        put({ ...own, kind: 'MeshService', name: 'a' }, { ports: [{ port: 80 }] }),
        put(
          { ...own, kind: 'RetryPolicy', name: 'retries' },
          { targetRefs: [{ kind: 'MeshService', name: 'a' }], attempts: 4 },
        ),
      ],
      onRefusal: 'abort',
    });
    await grpc.index.reached(revision);
  });
  afterEach(async () => {
    client.close();
    await grpc.close();
  });

  type Call<Q> = (
    request: Q,
    metadata: Metadata,
    done: (
      error: ServiceError | null,
      answer: { readonly answerJson: string; readonly answer: object | undefined },
    ) => void,
  ) => unknown;
  /** Returns the answer as text; the message beside it has the same content. */
  const textOf = ({
    answerJson,
    answer,
  }: {
    readonly answerJson: string;
    readonly answer: object | undefined;
  }): ParsedJson => {
    const text: ParsedJson = JSON.parse(answerJson);
    expect(JSON.parse(JSON.stringify(answer))).toMatchObject(text);
    return text;
  };
  const ask = <Q>(call: Call<Q>, request: Q, token = ADMIN): Promise<ParsedJson> =>
    new Promise((resolve, reject) =>
      call.call(client, request, metadataOf(token), (error, answer) =>
        error ? reject(error) : resolve(textOf(answer)),
      ),
    );
  const codeOf = (asked: Promise<unknown>): Promise<number> =>
    asked.then(
      () => status.OK,
      (error: ServiceError) => error.code,
    );
  const service = { kind: 'MeshService', name: 'a', zone: undefined, ...EMPTY };
  const policy = { kind: 'RetryPolicy', name: 'retries', zone: undefined, ...EMPTY };
  const of = { $case: 'name' as const, value: service };
  const all = { kind: '', representation: false, minRevision: 0, page: undefined };

  it('says what affects a resource, where a policy counts, what a change would change, and the graph', async () => {
    expect(await ask(client.listPolicies, { of, ...all })).toMatchObject({
      total: 1,
      resource: { kind: 'MeshService', zone: 'east', name: 'a' },
      items: [{ kind: 'RetryPolicy', effective: { attempts: 4 } }],
    });
    const page = { size: 1, offset: 1 };
    expect(await ask(client.listPolicies, { of, ...all, page })).toMatchObject({ total: 1, items: [] });
    const value = { ...EMPTY, group: 'x.io', kind: 'Thing', name: 'b' };
    const virtual = await ask(client.listPolicies, { of: { $case: 'virtual', value }, ...all });
    expect(virtual).toMatchObject({ total: 0, resource: { kind: 'Thing', namespace: 'default' } });
    const scopes = await ask(client.listScopes, { name: policy, minRevision: 0, page: undefined });
    expect(scopes).toMatchObject({ count: 1, items: [{ state: 'Enforced', enforced: ['/attempts'] }] });
    const asked = { name: policy, minRevision: 0, page: undefined };
    expect(await ask(client.getImpact, { ...asked, document: undefined })).toMatchObject({
      operation: 'delete',
      total: 1,
      items: [{ before: { effective: { attempts: 4 } } }],
    });
    const spec = { targetRefs: [{ kind: 'MeshService', name: 'a' }], attempts: 2 };
    const document = JSON.stringify({ type: 'RetryPolicy', mesh: 'default', name: 'retries', spec });
    expect(await ask(client.getImpact, { ...asked, document })).toMatchObject({
      operation: 'update',
      items: [{ after: { effective: { attempts: 2 } } }],
    });
    const graph = await ask(client.getTopology, { mesh: '', root: service });
    expect(graph.nodes.filter(({ level }: ParsedJson) => level === 'Service')).toMatchObject([{ name: 'a' }]);
  });

  it('refuses what REST refuses', async () => {
    const none = 'nobody:';
    const asked = { name: policy, minRevision: 0, page: undefined };
    expect(await codeOf(ask(client.listPolicies, { of, ...all }, none))).toBe(status.PERMISSION_DENIED);
    expect(await codeOf(ask(client.listScopes, asked, none))).toBe(status.PERMISSION_DENIED);
    expect(await codeOf(ask(client.getImpact, { ...asked, document: '{}' }, none))).not.toBe(status.OK);
    expect(await codeOf(ask(client.getTopology, { mesh: '', root: undefined }, none))).toBe(status.PERMISSION_DENIED);
    const wrong: readonly Promise<unknown>[] = [
      ask(client.listPolicies, { of: undefined, ...all }),
      ask(client.listPolicies, { of, ...all, kind: 'NoPolicy' }),
      ask(client.listPolicies, { of, ...all, page: { size: 1_001, offset: 0 } }),
      ask(client.listScopes, { ...asked, name: service }),
      ask(client.getImpact, { ...asked, name: service, document: '{}' }),
      ask(client.getImpact, { ...asked, document: JSON.stringify({ type: 'RetryPolicy', name: 'other' }) }),
      ask(client.getTopology, { mesh: 'default', root: { ...service, mesh: 'other' } }),
    ];
    expect(await Promise.all(wrong.map(codeOf))).toEqual(wrong.map(() => status.INVALID_ARGUMENT));
    const missing = { ...asked, name: { ...policy, name: 'gone' } };
    expect(await codeOf(ask(client.listScopes, missing))).toBe(status.NOT_FOUND);
    expect(await codeOf(ask(client.getTopology, { mesh: 'none', root: undefined }))).toBe(status.NOT_FOUND);
  });
});
