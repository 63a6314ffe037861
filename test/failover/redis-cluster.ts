import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../scripts/lib/ports.mjs';
import { RedisServer, type RedisTls } from '../chaos/leader/redis-server';
import { until } from '../support/until';

const SLOTS = 16_384;
/** Silence after which a node is taken for dead, ms. */
const NODE_TIMEOUT = 1_000;

/** A cluster of three masters without replicas, each with a third of the slots. */
export class RedisCluster {
  private constructor(
    private readonly folder: string,
    readonly nodes: readonly RedisServer[],
    private readonly busPorts: readonly number[],
  ) {}

  /** Starts the nodes and joins them; resolves when each reports that the cluster is up. */
  static async start(tls?: RedisTls): Promise<RedisCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'causeway-cluster-'));
    const nodes: RedisServer[] = [];
    const busPorts: number[] = [];
    try {
      for (let n = 0; n < 3; n++) {
        busPorts.push(await freePort());
        nodes.push(await startNode(folder, busPorts[n] ?? 0, tls));
      }
      const cluster = new RedisCluster(folder, nodes, busPorts);
      await cluster.join();
      return cluster;
    } catch (error) {
      await Promise.all(nodes.map((one) => one.kill()));
      throw error;
    }
  }

  get url(): string {
    const [scheme] = this.nodes[0]?.url.split(':') ?? [];
    return `${scheme}+cluster://${this.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
  }

  /** The node that has the slot of a key. */
  async ownerOf(key: string): Promise<RedisServer> {
    const slot = Number(await this.ask(this.nodes[0], ['CLUSTER', 'KEYSLOT', key]));
    const owner = this.nodes[Math.floor(slot / Math.ceil(SLOTS / 3))];
    if (!owner) throw new Error(`no node has slot ${slot}`);
    return owner;
  }

  /** Gives the slot of a key, which is free, to another node, as an operator who moves slots does. */
  async moveSlotOf(key: string): Promise<RedisServer> {
    const slot = String(await this.ask(this.nodes[0], ['CLUSTER', 'KEYSLOT', key]));
    const owner = await this.ownerOf(key);
    const other = this.nodes.find((node) => node !== owner);
    if (!other) throw new Error('there is one node only');
    const id = String(await this.ask(other, ['CLUSTER', 'MYID']));
    const from = String(await this.ask(owner, ['CLUSTER', 'MYID']));
    await this.ask(other, ['CLUSTER', 'SETSLOT', slot, 'IMPORTING', from]);
    await this.ask(owner, ['CLUSTER', 'SETSLOT', slot, 'MIGRATING', id]);
    for (const node of [other, ...this.nodes.filter((one) => one !== other)])
      await this.ask(node, ['CLUSTER', 'SETSLOT', slot, 'NODE', id]);
    return other;
  }

  async ask(node: RedisServer | undefined, command: string[]): Promise<unknown> {
    return node?.ask(command);
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((one) => one.kill()));
    await rm(this.folder, { recursive: true, force: true });
  }

  private async join(): Promise<void> {
    const share = Math.ceil(SLOTS / 3);
    for (const [n, node] of this.nodes.entries()) {
      const last = Math.min(SLOTS, (n + 1) * share) - 1;
      await this.ask(node, ['CLUSTER', 'ADDSLOTSRANGE', String(n * share), String(last)]);
      await this.ask(node, ['CLUSTER', 'SET-CONFIG-EPOCH', String(n + 1)]);
    }
    for (const [n, { port }] of this.nodes.entries()) {
      if (n > 0)
        await this.ask(this.nodes[0], ['CLUSTER', 'MEET', '127.0.0.1', String(port), String(this.busPorts[n])]);
    }
    await until('each node says that the cluster is up', async () => {
      const said = await Promise.all(this.nodes.map(async (node) => String(await this.ask(node, ['CLUSTER', 'INFO']))));
      return said.every((text) => /cluster_state:ok/.test(text) && /cluster_known_nodes:3/.test(text));
    });
  }
}

async function startNode(folder: string, bus: number, tls: RedisTls | undefined): Promise<RedisServer> {
  const port = await freePort();
  const more = ['--cluster-enabled', 'yes', '--cluster-config-file', join(folder, `${port}.nodes`)];
  return RedisServer.start({
    port,
    folder,
    ...(tls && { tls }),
    more: [...more, '--cluster-port', String(bus), '--cluster-node-timeout', String(NODE_TIMEOUT)],
  });
}
