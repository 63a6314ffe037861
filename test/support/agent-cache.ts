import { join } from 'node:path';
import { ResourceCache, type ChangeApplier } from '@causeway/agent/testing';
import { silentLogger, systemClock as clock } from '@causeway/runtime';
import { AdsClient, XdsServer } from '@causeway/xds-server';
import type { EnvoyView } from '@causeway/xds-translation';
import type { TrafficZone } from './traffic-zone';
import { zoneResources } from './zone-resources';

/** Serves the resources of a zone over xDS at a free port of loopback: every proxy has this view. */
export async function serveZone(
  zone: TrafficZone,
  view: EnvoyView,
): Promise<{ readonly server: XdsServer<EnvoyView>; readonly port: number }> {
  const source = zoneResources(zone, 'west');
  source.follow();
  const auth = {
    admit: async () => Promise.resolve({ proxy: { id: 'agent', view } }),
    onChange: () => () => undefined,
  };
  const server = new XdsServer({ source, auth, clock, logger: silentLogger });
  return { server, port: await server.listen('127.0.0.1', 0) };
}

/** Opens the cache of an agent's resources in a folder, and fills it from an xDS port of loopback. `apply` stands for its plane. */
export async function openAgentCache(
  folder: string,
  port: number,
  apply: ChangeApplier,
): Promise<{ readonly cache: ResourceCache; readonly client: AdsClient }> {
  const cache = await ResourceCache.open(join(folder, 'resources'), { clock, logger: silentLogger });
  cache.useApplier(apply);
  const client = new AdsClient({
    addresses: () => [`127.0.0.1:${port}`],
    tls: () => undefined,
    node: () => ({ id: 'agent', cluster: 'web', metadata: {}, userAgent: 'causeway-agent 0.1.0' }),
    authorization: () => undefined,
    held: (type) => cache.versions(type),
    receive: (update) => cache.receive(update),
    clock,
    logger: silentLogger,
    limits: { pause: { base: 20, cap: 50 } },
  });
  client.onState(({ type }) => cache.connected(type === 'connected'));
  cache.useClient(client);
  return { cache, client };
}
