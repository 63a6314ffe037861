import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger, systemClock } from '@causeway/runtime';
import { RESOURCE_TYPES, type EncodedResource } from '@causeway/xds-server';
import { deltaClient, type DeltaClient } from '../../../../test/support/ads-client';
import { until } from '../../../../test/support/until';
import { ResourceCache } from '../resources/resource-cache';
import { LocalXdsServer } from './local-xds-server';

const { endpoints, secret } = RESOURCE_TYPES;
const PROXY = 'default.web-1';
const resource = (name: string, content: string, type = endpoints): EncodedResource => ({
  type,
  name,
  version: content,
  bytes: Buffer.from(content),
});

describe('the server of a machine for its proxies', () => {
  let folder = '';
  let server: LocalXdsServer;
  let cache: ResourceCache;
  let proxy: DeltaClient;
  let acked = 0;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cwx-'));
    const tools = { clock: systemClock, logger: silentLogger };
    cache = await ResourceCache.open(join(folder, 'resources'), tools);
    server = new LocalXdsServer(join(folder, 'xds.sock'), tools);
    await server.listen();
    server.serve(PROXY, cache);
    cache.useApplier((change) => server.waitForAck(PROXY, change));
    proxy = deltaClient(`unix:${server.path}`, PROXY);
    acked = 0;
  });
  afterEach(async () => {
    server.forget(PROXY);
    await proxy.close();
    await server.close();
    await cache.close();
    await rm(folder, { recursive: true });
  });

  const received = (...resources: readonly EncodedResource[]): Promise<string | undefined> =>
    cache.receive({ type: endpoints, resources, removed: [] });
  const ack = async (): Promise<void> => proxy.ack(await proxy.response(acked++));
  /** The proxy asks for endpoints, gets them, and acks. */
  async function hold(...resources: readonly EncodedResource[]): Promise<void> {
    proxy.send({ typeUrl: endpoints, resourceNamesSubscribe: resources.map(({ name }) => name) });
    await until('it is known', () => server.isConnected(PROXY));
    const taken = received(...resources);
    await until('it has all', async () => {
      if (proxy.responses.length > acked) await ack();
      return proxy.responses.flatMap(({ resources: all }) => all).length >= resources.length;
    });
    expect(await taken).toBeUndefined();
  }

  it('has a change taken when the proxy acks it, and with its words when it rejects it', async () => {
    await hold(resource('a', '1'));
    let isTaken = false;
    const taken = received(resource('a', '2')).then((refusal) => {
      isTaken = true;
      return refusal;
    });
    const response = await proxy.response(acked++);
    expect(isTaken).toBe(false);
    proxy.nack(response, 'no such endpoint');
    expect(await taken).toContain('no such endpoint');
  });

  it('has a change taken that leaves what the proxy holds as it is: no ack will come', async () => {
    await hold(resource('a', '1'));
    expect(await received(resource('a', '1'))).toBeUndefined();
    expect(proxy.responses).toHaveLength(acked);
  });

  it('also where it comes while another one is not acked', async () => {
    await hold(resource('a', '1'), resource('b', '1'));
    const both = [received(resource('b', '2')), received(resource('a', '1'))];
    await ack();
    expect(await Promise.all(both)).toEqual([undefined, undefined]);
    expect(proxy.responses).toHaveLength(acked);
  });

  it('waits for nothing of a type that the proxy does not ask for', async () => {
    await hold(resource('a', '1'));
    const change = { type: secret, resources: [resource('identity', '1', secret)], removed: [] };
    expect(await cache.receive(change)).toBeUndefined();
  });
});
