import { createClient } from '@redis/client';
import { RedisServer } from '../chaos/leader/redis-server';
import { ENVOY } from '../support/envoy-process';
import { START_TIMEOUT } from '../support/process-plane';
import { until } from '../support/until';
import { call } from './calls';
import { TrafficMesh } from './traffic-mesh';

jest.setTimeout(START_TIMEOUT);

(ENVOY === undefined ? describe.skip : describe)('from a client in west to a process in east', () => {
  let traffic: TrafficMesh | undefined;
  const redis = [] as RedisServer[];
  beforeAll(async () => {
    traffic = await TrafficMesh.start();
  });
  afterAll(async () => {
    await traffic?.stop();
    await Promise.all(redis.map((one) => one.kill()));
  });

  it('what is set in west through its proxy is read in east', async () => {
    if (!traffic) return;
    const client = await traffic.client('west');
    const server = await traffic.instance('east', 'echo');
    const at = await traffic.vip('west', 'echo', 'east');
    console.log(at, server.at);
    try {
      await until('an answer', async () => (await call(at)) !== '', 10_000);
    } catch (e) {
      console.log(await client.stats(/^(cluster.ads|control_plane|cluster_manager|listener_manager|sds|listener\.)/));
      console.log(
        await server.proxy.stats(/^(cluster.ads|control_plane|cluster_manager|listener_manager|sds|listener\.)/),
      );
      console.log(traffic.mesh.zone('west').lastLines, traffic.mesh.zone('east').lastLines);
      throw e;
    }
  });
});
