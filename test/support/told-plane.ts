import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ResourceCache, type Plane } from '@causeway/agent/testing';
import { silentLogger, systemClock } from '@causeway/runtime';
import { AdsClient } from '@causeway/xds-server';

const tools = { clock: systemClock, logger: silentLogger };

/** A plane that asks our server for everything, as an agent has it: client, cache on disk, plane. */
export class ToldPlane<P extends Plane> {
  private constructor(
    readonly plane: P,
    private readonly client: AdsClient,
    private readonly cache: ResourceCache,
    private readonly folder: string,
  ) {}

  /** `id`: of the node. `xdsPort`: where the control plane is, on loopback and in plain. */
  static async start<P extends Plane>(
    { id, xdsPort }: { readonly id: string; readonly xdsPort: number },
    createPlane: (cache: ResourceCache) => P,
  ): Promise<ToldPlane<P>> {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-plane-'));
    const cache = await ResourceCache.open(join(folder, 'cache'), tools);
    const plane = createPlane(cache);
    cache.useApplier((change) => plane.take(change));
    const client = new AdsClient({
      addresses: () => [`127.0.0.1:${xdsPort}`],
      tls: () => undefined,
      node: () => ({ id, cluster: 'test', metadata: {}, userAgent: 'causeway-agent 0' }),
      authorization: () => undefined,
      held: (type) => cache.versions(type),
      receive: (update) => cache.receive(update),
      ...tools,
    });
    client.onState(({ type }) => cache.connected(type === 'connected'));
    await plane.start();
    cache.useClient(client);
    return new ToldPlane(plane, client, cache, folder);
  }

  /** Ends it at once, as when its process is killed. */
  async stop(): Promise<void> {
    this.client.close();
    await this.plane.stop({ drainMs: 0 });
    await this.cache.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
