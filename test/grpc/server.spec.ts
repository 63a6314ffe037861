import { connect as connectSocket } from 'node:net';
import { connect, constants } from 'node:http2';
import { once } from 'node:events';
import {
  HealthCheckResponse_ServingStatus as Serving,
  GetRequest,
  HealthClient,
  ListRequest,
  ResourceServiceClient,
  type HealthCheckResponse,
} from '@causeway/proto-gen';
import type { JsonValue } from '@bufbuild/protobuf';
import { credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { FakeClock } from '@causeway/runtime/testing';
import { until } from '../support/until';
import { GenericClient } from './generic-client';
import { GrpcFixture, OPERATOR_TOKEN } from './grpc-fixture';

const service = (name: string): string =>
  JSON.stringify({
    type: 'MeshService',
    name,
    spec: { ports: [{ port: 80 }], selector: { dataplaneTags: { a: 'b' } } },
  });

describe('the gRPC API', () => {
  let grpc: GrpcFixture;
  let notReady: string | undefined;
  beforeEach(async () => {
    notReady = undefined;
    grpc = await GrpcFixture.open({ notReady: () => notReady });
  });
  afterEach(() => grpc.close());

  it.each(['v1', 'v1alpha'] as const)('is used by a client that knows no proto, by reflection %s', async (version) => {
    const client = await GenericClient.connect(grpc.address, version);
    expect(client.services).toEqual([
      'causeway.v1.ResourceService',
      'causeway.v1.NamingService',
      'causeway.v1.RoutingService',
      'causeway.v1.PolicyService',
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
    ]);
    const applied = await client.call('causeway.v1.ResourceService/Apply', [{ documents: [{ json: service('a') }] }]);
    expect(applied).toMatchObject([
      { results: [{ outcome: 'APPLY_OUTCOME_CREATED', id: { name: 'a', zone: 'east' } }] },
    ]);
    const name = { kind: 'MeshService', name: 'a' };
    const [got] = await client.call('causeway.v1.ResourceService/Get', [{ name }]);
    expect(got).toMatchObject({ resource: { id: { mesh: 'default', namespace: 'default' }, generation: '1' } });
    const [listed] = await client.call('causeway.v1.ResourceService/List', [{ selection: { kind: 'MeshService' } }]);
    expect(listed).toMatchObject({ resources: [{ id: { name: 'a' } }] });
    await client.call('causeway.v1.ResourceService/Delete', [{ name }]);
    await expect(client.call('causeway.v1.ResourceService/Get', [{ name }])).rejects.toMatchObject({ code: 5 });
    client.close();
  });

  it('shows such a client what the details of errors mean', async () => {
    const client = await GenericClient.connect(grpc.address, 'v1');
    const detailsOf = async (path: string, request: JsonValue): Promise<readonly unknown[]> =>
      client.call(path, [request]).then(
        () => [],
        (error: ServiceError) => client.detailsOf(error),
      );
    const type = (name: string) => ({ '@type': `type.googleapis.com/google.rpc.${name}` });
    const absent = { name: { kind: 'MeshService', name: 'absent' } };
    expect(await detailsOf('causeway.v1.ResourceService/Get', absent)).toEqual([
      { ...type('ErrorInfo'), reason: 'NOT_FOUND', domain: 'causeway.v1' },
    ]);
    expect(await detailsOf('causeway.v1.NamingService/Resolve', { hostname: '' })).toMatchObject([
      type('ErrorInfo'),
      { ...type('BadRequest'), fieldViolations: [{ field: 'hostname' }] },
    ]);
    client.close();
  });

  it('tells its health: of the server and of services, and that it ends', async () => {
    const client = new HealthClient(grpc.address, credentials.createInsecure());
    const check = (name: string): Promise<unknown> =>
      new Promise((resolve) =>
        client.check({ service: name }, (error, answer) => resolve(error ? error.code : answer.status)),
      );
    expect(await check('')).toBe(Serving.SERVING);
    expect(await check('causeway.v1.NamingService')).toBe(Serving.SERVING);
    expect(await check('nonsense.Service')).toBe(5);
    const seen: Serving[] = [];
    const watch = client.watch({ service: 'causeway.v1.ResourceService' });
    watch.on('data', ({ status }: HealthCheckResponse) => seen.push(status)).on('error', () => undefined);
    await until('it is told', () => seen.length === 1);
    notReady = 'no defaults yet';
    expect(await check('')).toBe(Serving.NOT_SERVING);
    await until('the watcher is told', () => seen.length === 2);
    notReady = undefined;
    await until('the watcher is told', () => seen.length === 3);
    await grpc.server.close();
    await until('the watcher is told of the end', () => seen.length === 4);
    expect(seen).toEqual([Serving.SERVING, Serving.NOT_SERVING, Serving.SERVING, Serving.NOT_SERVING]);
    client.close();
  });

  it('answers 1,000 calls at once on a new connection of a known caller', async () => {
    const client = new ResourceServiceClient(grpc.address, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${OPERATOR_TOKEN}`);
    const get = (): Promise<number | undefined> =>
      new Promise((resolve) =>
        client.get(GetRequest.fromPartial({ name: { kind: 'Mesh', name: 'default' } }), metadata, (error) =>
          resolve(error?.code),
        ),
      );
    const codes = new Set(await Promise.all(Array.from({ length: 1_000 }, get)));
    expect([...codes]).toEqual([undefined]);
    client.close();
  });

  it('lets one address watch health 100 times at once, and no more until a watch ends', async () => {
    const client = new HealthClient(grpc.address, credentials.createInsecure());
    const outcomeOf = (watch: ReturnType<HealthClient['watch']>): Promise<string> =>
      new Promise((resolve) => {
        watch.once('data', () => resolve('told'));
        watch.on('error', ({ message }) => resolve(message));
      });
    const watches = Array.from({ length: 100 }, () => client.watch({ service: '' }));
    expect(new Set(await Promise.all(watches.map(outcomeOf)))).toEqual(new Set(['told']));
    const refused = '8 RESOURCE_EXHAUSTED: 100 watches of health are under way from this address';
    expect(await outcomeOf(client.watch({ service: '' }))).toBe(refused);
    watches[0]?.cancel();
    await until('a watch is taken again', async () => (await outcomeOf(client.watch({ service: '' }))) === 'told');
    client.close();
  });

  it('counts only the streams of reflection that are open', async () => {
    for (let i = 0; i < 110; i++) (await GenericClient.connect(grpc.address, 'v1')).close();
  });

  it('ends a connection of garbage, and no other', async () => {
    const client = await GenericClient.connect(grpc.address, 'v1');
    for (const bytes of [
      'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' + 'garbage'.repeat(100),
      '\0\0\0',
    ]) {
      const socket = connectSocket(grpc.port, '127.0.0.1');
      socket.on('error', () => undefined).resume();
      socket.write(bytes);
      if (bytes.length < 10) socket.end();
      await once(socket, 'close');
    }
    const session = connect(`http://${grpc.address}`);
    const path = '/causeway.v1.ResourceService/Get';
    const request = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    request.end(Buffer.from([0, 0, 0, 0, 3, 255, 255, 255])).resume();
    const [headers] = (await once(request, 'response')) as [Record<string, string>];
    const trailers = headers['grpc-status']
      ? headers
      : ((await once(request, 'trailers')) as [Record<string, string>])[0];
    expect(trailers['grpc-status']).toBe('13');
    session.close();
    const answer = await client.call('causeway.v1.ResourceService/List', [{ selection: { kind: 'Mesh' } }]);
    expect(answer).toHaveLength(1);
    client.close();
  });

  it('refuses a message above 4 MiB and goes on', async () => {
    const client = await GenericClient.connect(grpc.address, 'v1');
    const huge = { documents: [{ json: 'x'.repeat(5 * 1024 * 1024) }] };
    await expect(client.call('causeway.v1.ResourceService/Apply', [huge])).rejects.toMatchObject({ code: 8 });
    const many = { documents: Array.from({ length: 10_001 }, () => ({ json: '{}' })) };
    await expect(client.call('causeway.v1.ResourceService/Apply', [many])).rejects.toMatchObject({
      code: 8,
      details: 'an Apply may have 10000 documents',
    });
    await until('nothing is under way', () => grpc.server.calls === 0);
    client.close();
  });
});

describe('a List of the gRPC API', () => {
  it('is reset when its client does not read for 30 s; the connection and its other calls stay', async () => {
    const clock = new FakeClock(Date.now());
    const grpc = await GrpcFixture.open({ clock });
    const ports = Array.from({ length: 200 }, (_, i) => ({ port: i + 1, name: `${'x'.repeat(50)}-${i}` }));
    const changes = Array.from({ length: 100 }, (_, i) => {
      const id = { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name: `s${i}` };
      return { type: 'put', expect: 'any', labels: {}, id, spec: { ports } } as const;
    });
    await grpc.index.reached((await grpc.store.write({ changes, onRefusal: 'abort' })).revision);
    const session = connect(`http://${grpc.address}`);
    const list = () =>
      session.request({
        ':method': 'POST',
        ':path': '/causeway.v1.ResourceService/List',
        'content-type': 'application/grpc',
        te: 'trailers',
      });
    const request = Buffer.from(
      ListRequest.encode(ListRequest.fromPartial({ selection: { kind: 'MeshService' } })).finish(),
    );
    const frame = Buffer.concat([Buffer.from([0, 0, 0, 0, request.length]), request]);
    const slow = list();
    const closed = once(slow, 'close');
    slow.on('error', () => undefined).end(frame);
    await once(slow, 'response');
    await until('the server waits for the reader', () => {
      clock.advance(1_000);
      return slow.closed || grpc.server.calls === 0;
    });
    await closed;
    expect(slow.rstCode).toBe(constants.NGHTTP2_CANCEL);
    const read = list();
    read.end(frame);
    let bytes = 0;
    read.on('data', (chunk: Buffer) => (bytes += chunk.length));
    await once(read, 'end');
    expect(bytes).toBeGreaterThan(1_000_000);
    session.close();
    await grpc.close();
  });
});

describe('callers of the gRPC API', () => {
  let grpc: GrpcFixture;
  beforeEach(async () => {
    grpc = await GrpcFixture.open({ open: false });
  });
  afterEach(() => grpc.close());

  it('are let in by their token before anything of their request is read', async () => {
    const client = await GenericClient.connect(grpc.address, 'v1');
    const list = (token?: string): Promise<unknown> =>
      client.call('causeway.v1.ResourceService/List', [{ selection: { kind: 'Mesh' } }], token);
    await expect(list()).rejects.toMatchObject({ code: 16, details: expect.stringMatching(/no RoleBinding/) });
    await expect(list('wrong')).rejects.toMatchObject({ code: 16, details: expect.stringMatching(/bearer token/) });
    for (const length of [16_385, 60_000])
      await expect(list('x'.repeat(length))).rejects.toMatchObject({
        code: 16,
        details: `the bearer token must not be longer than 16384 characters, has ${length}`,
      });
    expect(await list(OPERATOR_TOKEN)).toHaveLength(1);
    client.close();
  });
});
