import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { DeltaDiscoveryResponse } from '@causeway/proto-gen';
import { readEndpointsName, RESOURCE_TYPES } from '@causeway/xds-server';
import { deltaClient, type DeltaClient } from '../../test/support/ads-client';
import type { ProcessPlane } from '../../test/support/process-plane';

/** Addresses and identities with which proxies connect. */
interface ProxyOrder {
  readonly port: number;
  readonly proxies: readonly { readonly name: string; readonly token: string }[];
}

const { cluster, endpoints, listener } = RESOURCE_TYPES;

/**
 * Proxies of a zone with capture `bind` and without Envoy, as a process: they hold a cluster, a listener and the endpoints of each service of the
 * mesh, and ack every response. Measures the work of a zone for its agents, without the agents' own work.
 */
export class BindProxies {
  private constructor(private readonly child: ChildProcess) {}

  /** Resolves when each of them was answered. */
  static async start(zone: ProcessPlane, count: number): Promise<BindProxies> {
    const proxies: { readonly name: string; readonly token: string }[] = [];
    for (let n = 0; n < count; n++) {
      const name = `bind-${n}`;
      const networking = { address: `127.0.1.${n + 1}`, inbound: [{ port: 7_000, tags: { 'kuma.io/service': name } }] };
      await zone.put(`/meshes/default/dataplanes/${name}`, { type: 'Dataplane', mesh: 'default', name, networking });
      proxies.push({ name, token: await zone.text('/tokens/dataplane', { mesh: 'default', name, validFor: '24h' }) });
    }
    const execArgv = ['-r', join(__dirname, '..', 'register.cjs')];
    const child = fork(__filename, [], { cwd: join(__dirname, '..', '..'), execArgv });
    const order: ProxyOrder = { port: Number(zone.xdsAddress.split(':').at(-1)), proxies };
    child.send(order);
    await once(child, 'message');
    return new BindProxies(child);
  }

  /** Names of services that each proxy has a listener for, the fewest of all. */
  async listeners(): Promise<number> {
    this.child.send('look');
    const answer: readonly unknown[] = await once(this.child, 'message');
    return Number(answer[0]);
  }

  stop(): void {
    this.child.kill('SIGKILL');
  }
}

/** One proxy: all clusters and listeners, and, as Envoy asks for them, the endpoints that clusters name. */
class BindProxy {
  private read = 0;
  private readonly endpoints = new Set<string>();
  readonly listeners = new Set<string>();
  private readonly client: DeltaClient;

  constructor(port: number, { name, token }: ProxyOrder['proxies'][number]) {
    this.client = deltaClient(port, `default.${name}`, token);
    const metadata = { 'causeway.io/capture': 'bind' };
    for (const typeUrl of [cluster, listener])
      this.client.send({ node: { id: `default.${name}`, metadata }, typeUrl, resourceNamesSubscribe: ['*'] });
    this.client.stream.on('data', () => this.ackAll());
  }

  get isAnswered(): boolean {
    if (this.client.ended) throw new Error(`the zone ended a proxy: ${this.client.ended.message}`);
    return this.read >= 2;
  }

  private ackAll(): void {
    const { responses } = this.client;
    for (; this.read < responses.length; this.read++) {
      const response = responses[this.read];
      if (!response) return;
      this.client.ack(response);
      if (response.typeUrl === cluster) this.subscribeEndpoints(response.resources);
      if (response.typeUrl !== listener) continue;
      for (const { name } of response.resources) this.listeners.add(name);
      for (const name of response.removedResources) this.listeners.delete(name);
    }
  }

  private subscribeEndpoints(clusters: DeltaDiscoveryResponse['resources']): void {
    const named = clusters.flatMap(
      ({ resource }) => readEndpointsName(cluster, Buffer.from(resource?.value ?? [])) ?? [],
    );
    const missing = [...new Set(named)].filter((name) => !this.endpoints.has(name));
    for (const name of missing) this.endpoints.add(name);
    if (missing.length > 0) this.client.send({ typeUrl: endpoints, resourceNamesSubscribe: missing });
  }
}

if (require.main === module) {
  let proxies: readonly BindProxy[] = [];
  process.on('message', (order: ProxyOrder | 'look') => {
    if (order === 'look') return void process.send?.(Math.min(...proxies.map(({ listeners }) => listeners.size)));
    proxies = order.proxies.map((each) => new BindProxy(order.port, each));
    const look = setInterval(() => {
      if (!proxies.every(({ isAnswered }) => isAnswered)) return;
      clearInterval(look);
      process.send?.(0);
    }, 50);
  });
  process.on('disconnect', () => process.exit(0));
}
