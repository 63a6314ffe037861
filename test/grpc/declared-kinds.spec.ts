import type { JsonValue } from '@bufbuild/protobuf';
import type { ServiceError } from '@grpc/grpc-js';
import { until } from '../support/until';
import { GenericClient } from './generic-client';
import { GrpcFixture } from './grpc-fixture';

const definition = {
  type: 'MetaresourceDefinition',
  name: 'paintpolicies.a.io',
  spec: {
    group: 'a.io',
    kind: 'PaintPolicy',
    plural: 'paintpolicies',
    hierarchy: 'mesh',
    declaredTargets: [{ kind: 'Namespace', semantics: 'paints its services' }],
    effectiveTarget: { level: 'Rule', semantics: 'is painted' },
    schema: { type: 'object', properties: { colour: { type: 'string', enum: ['red', 'blue'] } } },
  },
};
const policy = (name: string, colour: string) => ({
  type: 'PaintPolicy',
  mesh: 'default',
  name,
  spec: { targetRefs: [{ kind: 'Namespace', name: 'default' }], colour },
});
const selection = { kind: 'PaintPolicy' };

describe('a declared kind over gRPC, with a client that knows no proto', () => {
  let grpc: GrpcFixture;
  let client: GenericClient;
  beforeEach(async () => {
    grpc = await GrpcFixture.open({ cp: { role: 'global' } });
    client = await GenericClient.connect(grpc.address, 'v1');
  });
  afterEach(async () => {
    client.close();
    await grpc.close();
  });

  const call = (method: string, request: JsonValue) =>
    client.call(`causeway.v1.ResourceService/${method}`, [request]) as Promise<readonly Record<string, JsonValue>[]>;
  const apply = (...documents: readonly object[]) =>
    call('Apply', { documents: documents.map((one) => ({ json: JSON.stringify(one) })) });
  const remove = (kind: string, name: string) => call('Delete', { name: { kind, name } });
  const errorOf = async (answer: Promise<unknown>): Promise<readonly unknown[]> => {
    const error = await answer.then(
      () => undefined,
      (error: ServiceError) => error,
    );
    return error ? [error.code, error.details, ...client.detailsOf(error).slice(1)] : [];
  };

  it('is put, read, listed, changed and deleted', async () => {
    const created = { outcome: 'APPLY_OUTCOME_CREATED' };
    expect(await apply(definition, policy('a', 'red'))).toMatchObject([{ results: [created, created] }]);
    const name = { kind: 'PaintPolicy', name: 'a' };
    const [got] = await call('Get', { name });
    expect(got).toMatchObject({
      resource: { id: { ...name, mesh: 'default', namespace: 'default' }, generation: '1' },
    });
    expect(await apply(policy('a', 'blue'))).toMatchObject([{ results: [{ outcome: 'APPLY_OUTCOME_UPDATED' }] }]);
    expect(await call('List', { selection })).toMatchObject([
      { resources: [{ id: name, json: expect.stringContaining('"colour":"blue"') }] },
    ]);
    const [refused] = await apply(policy('b', 'green'));
    expect(JSON.stringify(refused)).toContain('spec.colour');
    expect(await errorOf(remove('MetaresourceDefinition', definition.name))).toMatchObject([
      9,
      expect.stringContaining('1 resource of kind PaintPolicy exists'),
      { violations: [{ type: 'IN_USE' }] },
    ]);
    await remove('PaintPolicy', 'a');
    await remove('MetaresourceDefinition', definition.name);
    expect(await errorOf(call('Get', { name }))).toMatchObject([3, expect.stringContaining('name.kind'), {}]);
  });

  it('is watched, on one call over changes, and over the end and the return of its definition', async () => {
    await apply(definition, policy('a', 'red'));
    const told: string[] = [];
    const watch = client.watch('causeway.v1.ResourceService/Watch', { selection }, (answer) => {
      const [[event = '', value] = []] = Object.entries(Object(answer) as Record<string, JsonValue>);
      const { id, name }: { id?: { name: string }; name?: string } = Object(value);
      if (event !== 'bookmark') told.push(`${event} ${id?.name ?? name}`);
    });
    const seen = (...want: readonly string[]): Promise<unknown> =>
      until(want.join(', '), () => JSON.stringify(told) === JSON.stringify(want));
    await seen('put a');
    await apply(policy('b', 'blue'));
    await seen('put a', 'put b');
    await remove('PaintPolicy', 'a');
    await remove('PaintPolicy', 'b');
    await seen('put a', 'put b', 'deleted a', 'deleted b');
    await remove('MetaresourceDefinition', definition.name);
    await apply(definition, policy('c', 'red'));
    await seen('put a', 'put b', 'deleted a', 'deleted b', 'put c');
    watch.cancel();
    expect((await watch.ended)?.code).toBe(1);
  });

  it.each<[string, JsonValue, string]>([
    ['Get', { name: { kind: 'PaintPolicy', name: 'a' } }, 'name.kind'],
    ['Delete', { name: { kind: 'PaintPolicy', name: 'a' } }, 'name.kind'],
    ['List', { selection }, 'selection.kind'],
    ['Watch', { selection }, 'selection.kind'],
  ])('that nobody declares is refused by %s, which names it', async (method, request, field) => {
    const description = 'is not a kind known here; got "PaintPolicy"';
    const fault = { field, description: expect.stringContaining(description) };
    expect(await errorOf(call(method, request))).toMatchObject([
      3,
      expect.stringContaining(`${field} ${description}`),
      { fieldViolations: [fault] },
    ]);
    const [, near] = await errorOf(
      call(method, JSON.parse(JSON.stringify(request).replace('PaintPolicy', 'MeshServic'))),
    );
    expect(near).toContain('got "MeshServic", did you mean "MeshService"?');
  });

  it('that nobody declares is refused in a batch, which names it', async () => {
    const [{ results } = {}] = await apply(policy('a', 'red'));
    expect(JSON.stringify(results)).toContain('is not a kind known here; got \\"PaintPolicy\\"');
  });
});
