import { once } from 'node:events';
import {
  ApplyOutcome,
  ResourceServiceClient,
  type ApplyRequest,
  type ApplyResponse,
  type ApplyResult,
} from '@causeway/proto-gen';
import { globalIdentity } from '@causeway/resources';
import { credentials, Metadata } from '@grpc/grpc-js';
import { GrpcFixture, OPERATOR_TOKEN } from './grpc-fixture';

const service = (name: string): string =>
  JSON.stringify({
    type: 'MeshService',
    name,
    spec: { ports: [{ port: 80 }], selector: { dataplaneTags: { a: 'b' } } },
  });
const zeros = (count: number): string => `[${Array.from({ length: count }, () => '0').join()}]`;

describe('an Apply of the gRPC API', () => {
  let grpc: GrpcFixture;
  let client: ResourceServiceClient;
  beforeEach(async () => {
    grpc = await GrpcFixture.open({ open: false });
    client = new ResourceServiceClient(grpc.address, credentials.createInsecure());
  });
  afterEach(async () => {
    client.close();
    await grpc.close();
  });

  const request = (documents: readonly string[]): ApplyRequest => {
    return { atomic: false, dryRun: false, mesh: '', etag: '', documents: documents.map((json) => ({ json })) };
  };

  async function apply(...messages: readonly (readonly string[])[]): Promise<readonly ApplyResult[]> {
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${OPERATOR_TOKEN}`);
    const call = client.apply(metadata);
    const results: ApplyResult[] = [];
    call.on('data', (response: ApplyResponse) => results.push(...response.results));
    for (const documents of messages) call.write(request(documents));
    call.end();
    await once(call, 'end');
    return results;
  }

  it('is refused to a caller without rights while it still sends: it holds nothing', async () => {
    const call = client.apply(new Metadata());
    call.write(request([service('a')]));
    const [error] = (await once(call.resume(), 'error')) as [object];
    expect(error).toMatchObject({ code: 16, details: expect.stringMatching(/no RoleBinding names user "anonymous"/) });
  });

  it('refuses a Dataplane that two VirtualNodes of the batch or before it select, naming both (T003-32)', async () => {
    const node = (name: string, matchLabels: object): string =>
      JSON.stringify({
        type: 'VirtualNode',
        name,
        namespace: 'default',
        spec: { podSelector: { matchLabels }, listeners: [{ portMapping: { port: 80, protocol: 'http' } }] },
      });
    const pod = JSON.stringify({
      type: 'Dataplane',
      name: 'pod',
      namespace: 'default',
      labels: { app: 'a', tier: 'web' },
      networking: { address: '127.0.0.1', inbound: [{ port: 80, tags: { 'kuma.io/service': 'a' } }] },
    });
    const mesh = { type: 'put', id: globalIdentity('Mesh', 'default'), expect: 'any', labels: {} } as const;
    await grpc.store.write({ changes: [{ ...mesh, spec: { namespaceSelector: {} } }], onRefusal: 'abort' });
    const both = 'found multiple matching VirtualNodes for Dataplane default/pod: default/v1,default/v2';
    const refused = { code: 3, message: expect.stringContaining(both) as string };
    const [, , ofBatch] = await apply([node('v1', { app: 'a' }), node('v2', { tier: 'web' }), pod]);
    expect(ofBatch).toMatchObject({ outcome: ApplyOutcome.APPLY_OUTCOME_REFUSED, error: refused });
    const [alone] = await apply([pod, service('a')]);
    expect(alone).toMatchObject({ outcome: ApplyOutcome.APPLY_OUTCOME_REFUSED, error: refused });
  });

  it('says where a document of a batch is no JSON, and writes the others', async () => {
    const results = await apply([service('a'), '{"type": "MeshService",\n  oops}', service('b')]);
    expect(results.map(({ outcome }) => outcome)).toEqual([
      ApplyOutcome.APPLY_OUTCOME_CREATED,
      ApplyOutcome.APPLY_OUTCOME_REFUSED,
      ApplyOutcome.APPLY_OUTCOME_CREATED,
    ]);
    expect(results[1]?.error).toMatchObject({
      code: 3,
      message: expect.stringMatching(/line 2, column 3: this is not JSON/),
    });
  });

  it.each([
    ['alone', [`{"type":"MeshService","name":"x","spec":{"ports":${zeros(50_000)}}}`]],
    ['in a batch', [`{"type":"MeshService","name":"x","spec":{"ports":${zeros(50_000)}}}`, service('a')]],
  ])('refuses a document of more values than any kind takes, %s', async (_, documents) => {
    const [refused, other] = await apply(documents);
    expect(refused?.error).toMatchObject({
      code: 3,
      message: expect.stringMatching(/more than 50000 keys and values/),
    });
    expect(other?.outcome).toBe(documents.length === 1 ? undefined : ApplyOutcome.APPLY_OUTCOME_CREATED);
  });

  it('refuses documents that have too many values together', async () => {
    const full = Array.from({ length: 10 }, () => `{"type":"MeshService","spec":${zeros(49_000)}}`);
    const messages = Array.from({ length: 5 }, () => full);
    await expect(apply(...messages)).rejects.toMatchObject({
      code: 8,
      details: 'the documents of an Apply may have 2000000 keys and values',
    });
  });
});
