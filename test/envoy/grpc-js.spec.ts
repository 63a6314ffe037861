import { Server, ServerCredentials, credentials, Client, type ServiceError } from '@grpc/grpc-js';
import { register } from '@grpc/grpc-js-xds';
import {
  Cluster,
  Cluster_DiscoveryType,
  ClusterLoadAssignment,
  HttpConnectionManager,
  Listener,
  Router,
} from '@causeway/proto-gen';
import { HttpFilter } from '@causeway/proto-gen/testing';
import { pack, packFilter, RESOURCE_TYPES } from '@causeway/xds-server';
import { until } from '../support/until';
import { XdsPlane } from '../support/xds-plane';

const asIs = (bytes: Buffer): Buffer => bytes;
const echo = {
  path: '/test.Echo/Say',
  requestStream: false,
  responseStream: false,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
} as const;

/** Answers every call with its name. */
async function backend(name: string): Promise<{ port: number; stop(): void }> {
  const server = new Server();
  server.addService(
    { echo },
    { echo: (_: unknown, done: (error: null, answer: Buffer) => void) => done(null, Buffer.from(name)) },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return { port, stop: () => server.forceShutdown() };
}

const assignment = (...ports: readonly number[]): object => ({
  clusterName: 'redis',
  endpoints: ports.map((portValue, priority) => ({
    priority,
    locality: { zone: `z-${priority}` },
    loadBalancingWeight: 1,
    lbEndpoints: [
      {
        hostIdentifier: {
          $case: 'endpoint',
          value: {
            address: {
              address: {
                $case: 'socketAddress',
                value: { address: '127.0.0.1', portSpecifier: { $case: 'portValue', value: portValue } },
              },
            },
          },
        },
      },
    ],
  })),
});

describe('an unmodified gRPC client (grpc-js-xds) over the state of the world', () => {
  const plane = new XdsPlane();
  const stops: (() => void)[] = [];
  beforeAll(() => register());
  afterAll(async () => {
    stops.forEach((stop) => stop());
    await plane.stop();
  });

  it('makes its first call, follows the endpoints, and turns to the next locality', async () => {
    const [one, two] = [await backend('one'), await backend('two')];
    stops.push(one.stop, two.stop);
    await plane.start();
    const hcm = pack(HttpConnectionManager, {
      statPrefix: 'redis',
      routeSpecifier: {
        $case: 'routeConfig',
        value: {
          name: 'redis',
          virtualHosts: [
            {
              name: 'all',
              domains: ['*'],
              routes: [
                {
                  match: { pathSpecifier: { $case: 'prefix', value: '' } },
                  action: { $case: 'route', value: { clusterSpecifier: { $case: 'cluster', value: 'redis' } } },
                },
              ],
            },
          ],
        },
      },
      httpFilters: [HttpFilter.fromPartial(packFilter('envoy.filters.http.router', Router, {}))],
    });
    plane.source.put(Listener, { name: 'redis', apiListener: { apiListener: hcm } });
    plane.source.put(Cluster, {
      name: 'redis',
      clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.EDS },
      edsClusterConfig: { edsConfig: { configSourceSpecifier: { $case: 'ads', value: {} } } },
    });
    plane.source.put(ClusterLoadAssignment, assignment(one.port));
    const config = JSON.stringify({
      xds_servers: [{ server_uri: `127.0.0.1:${plane.port}`, channel_creds: [{ type: 'insecure' }] }],
      node: { id: 'grpc-1', locality: { zone: 'west' } },
    });
    const client = new Client('xds:///redis', credentials.createInsecure(), {
      'grpc.TEST_ONLY_DO_NOT_USE_IN_PROD.xds_bootstrap_config': config,
    });
    stops.push(() => client.close());
    const call = (): Promise<string> =>
      new Promise((resolve, reject) => {
        const deadline = Date.now() + 60_000;
        const answered = (error: ServiceError | null, answer?: Buffer): void =>
          error ? reject(error) : resolve(String(answer));
        client.makeUnaryRequest(echo.path, asIs, asIs, Buffer.from('who?'), { deadline }, answered);
      });
    expect(await call()).toBe('one');
    plane.source.put(ClusterLoadAssignment, assignment(two.port));
    await until('the other endpoint', async () => (await call()) === 'two');
    plane.source.put(ClusterLoadAssignment, assignment(one.port, two.port));
    await until('the first locality', async () => (await call()) === 'one');
    one.stop();
    await until('the second locality', async () => (await call().catch(() => '')) === 'two');
    await until('all acks', () =>
      plane.server.proxies()[0]?.types.every(({ ackedRevision }) => ackedRevision === plane.source.revision),
    );
    expect(plane.server.proxies()).toMatchObject([{ id: 'grpc-1', form: 'sotw' }]);
    const types = plane.server.proxies()[0]?.types.map(({ type }) => type);
    expect(types?.sort()).toEqual([RESOURCE_TYPES.cluster, RESOURCE_TYPES.endpoints, RESOURCE_TYPES.listener].sort());
    expect(plane.server.counters.rejections).toBe(0);
  });
});
