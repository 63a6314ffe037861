import { once } from 'node:events';
import { ResourceServiceClient } from '@causeway/proto-gen';
import { credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import type { AnsweredCall } from '@causeway/grpc-api';
import { GrpcRequests } from '../../apps/control-plane/src/metrics/request-metrics';
import { until } from '../support/until';
import { GrpcFixture, OPERATOR_TOKEN } from './grpc-fixture';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const MESHES = { kind: 'Mesh', mesh: '', nameContains: '', labelSelector: '', expectedMesh: false };

interface Answer {
  readonly error: ServiceError | null;
  /** The ids that the head of the answer and its trailers name. */
  readonly ids: readonly unknown[];
}

describe('calls of the gRPC API', () => {
  const observed: (AnsweredCall & { readonly user: string })[] = [];
  let grpc: GrpcFixture;
  let client: ResourceServiceClient;
  beforeAll(async () => {
    grpc = await GrpcFixture.open({ open: false, observe: (call) => observed.push(call) });
    client = new ResourceServiceClient(grpc.address, credentials.createInsecure());
  });
  afterAll(async () => {
    client?.close();
    await grpc?.close();
  });

  function metadata(fields: Readonly<Record<string, string>>): Metadata {
    const made = new Metadata();
    for (const [name, value] of Object.entries(fields)) made.set(name, value);
    return made;
  }

  async function get(name: string, fields: Readonly<Record<string, string>>): Promise<Answer> {
    const request = { name: { kind: 'Mesh', mesh: '', namespace: '', name }, minRevision: 0 };
    const ids: unknown[] = [];
    const error = await new Promise<ServiceError | null>((resolve) => {
      const call = client.get(request, metadata(fields), (failure) => resolve(failure));
      call.on('metadata', (head: Metadata) => ids.push(...head.get('x-request-id')));
    });
    return { error, ids: [...ids, ...(error?.metadata.get('x-request-id') ?? [])] };
  }

  const authorization = `Bearer ${OPERATOR_TOKEN}`;
  const latest = async (count: number): Promise<(typeof observed)[number] | undefined> => {
    await until(`${count} calls are observed`, () => observed.length === count);
    return observed[count - 1];
  };

  it('have the id of the client, who sent them, their trace and their status', async () => {
    const traceparent = `00-${TRACE}-b7ad6b7169203331-01`;
    const { error, ids } = await get('default', { authorization, traceparent, 'x-request-id': 'call-1' });
    expect([error, ids]).toEqual([null, ['call-1']]);
    expect(await latest(1)).toMatchObject({
      id: 'call-1',
      traceId: TRACE,
      method: '/causeway.v1.ResourceService/Get',
      code: 'OK',
      isStream: false,
      ms: expect.any(Number),
      address: '127.0.0.1',
    });
    expect(observed[0]?.user).not.toBe('anonymous');
  });

  it('have an id of their own where that of the client is malformed, also where they fail', async () => {
    const { error, ids } = await get('none', { authorization, 'x-request-id': 'two words' });
    expect([error?.code, error?.details]).toEqual([5, expect.any(String)]);
    expect(ids).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(await latest(2)).toMatchObject({ id: ids[0], code: 'NOT_FOUND' });
  });

  it('are observed where their caller is refused, and the audit log names the same call', async () => {
    const { error, ids } = await get('default', { authorization: 'Bearer wrong', 'x-request-id': 'call-3' });
    expect([error?.code, ids]).toEqual([16, ['call-3']]);
    expect(await latest(3)).toMatchObject({ id: 'call-3', code: 'UNAUTHENTICATED', user: 'anonymous' });
    await until('the refusal is recorded', async () => {
      const { entries } = await grpc.audit.page({ result: 'refused', size: 10 });
      return entries.some(({ requestId }) => requestId === 'call-3');
    });
  });

  it('that are answered by a stream are counted when they end, whoever ends them, and not timed', async () => {
    const call = client.watch({ selection: MESHES, resumeToken: '', minRevision: 0 }, metadata({ authorization }));
    call.on('error', () => undefined);
    await once(call, 'data');
    expect(observed).toHaveLength(3);
    call.cancel();
    expect(await latest(4)).toMatchObject({ code: 'CANCELLED', isStream: true });
    const requests = new GrpcRequests();
    for (const each of observed) requests.observe(each);
    expect([...requests.values()]).toEqual([
      { labels: { method: 'causeway.v1.ResourceService/Get', code: 'OK' }, value: 1 },
      { labels: { method: 'causeway.v1.ResourceService/Get', code: 'NOT_FOUND' }, value: 1 },
      { labels: { method: 'causeway.v1.ResourceService/Get', code: 'UNAUTHENTICATED' }, value: 1 },
      { labels: { method: 'causeway.v1.ResourceService/Watch', code: 'CANCELLED' }, value: 1 },
    ]);
    const { values } = await requests.seconds.metric.get();
    expect(values.filter(({ metricName }) => metricName?.endsWith('_count')).map(({ labels }) => labels)).toEqual([
      { method: 'causeway.v1.ResourceService/Get' },
    ]);
  });
});
