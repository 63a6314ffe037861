import { ClusterLoadAssignment, HealthStatus } from '@causeway/proto-gen';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import { deltaClient, type DeltaClient } from '../support/ads-client';
import type { TrafficMesh } from './traffic-mesh';

/** The endpoints of a destination that may serve, as `address:port`; a zone is its ingress. */
export type Serving = ReadonlySet<string>;

const HEALTHY: readonly HealthStatus[] = [HealthStatus.UNKNOWN, HealthStatus.HEALTHY];

/** Follows the endpoints of destinations by a stream as the proxies of a zone have it. */
export class EndpointWatch {
  private readonly known = new Map<string, Serving>();
  private readonly waiting = new Set<() => void>();
  private taken = 0;

  private constructor(private readonly client: DeltaClient) {
    client.stream.on('data', () => this.take());
  }

  /** Opens a watch of destinations, with `names` as in docs/reference/xds-translation.md. Needs a Dataplane of its own in the zone. */
  static async open(traffic: TrafficMesh, zone: string, names: readonly string[]): Promise<EndpointWatch> {
    const name = `watch-${zone}`;
    await traffic.put(traffic.zone(zone), 'Dataplane', name, { networking: { address: traffic.machine() } });
    const token = await traffic.zone(zone).text('/tokens/dataplane', { mesh: 'default', name, validFor: '24h' });
    const port = Number(traffic.zone(zone).xdsAddress.split(':')[1]);
    const authority = await traffic.authorityOf(zone);
    const client = deltaClient(port, `default.${name}`, `Bearer ${token}`, authority);
    const watch = new EndpointWatch(client);
    client.send({ typeUrl: RESOURCE_TYPES.endpoints, resourceNamesSubscribe: [...names] });
    return watch;
  }

  /** Returns the endpoints that serve a destination; undefined before the zone has sent them. */
  serving(name: string): Serving | undefined {
    return this.known.get(name);
  }

  /** Resolves when the endpoints of a destination are as asked; `performance.now()` of then. Rejects after two minutes. */
  when(name: string, isWanted: (serving: Serving) => boolean): Promise<number> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(look);
        reject(new Error(`${name} is served by ${[...(this.known.get(name) ?? [])].join() || 'nobody'}`));
      }, 120_000);
      const look = (): void => {
        const serving = this.known.get(name);
        if (!serving || !isWanted(serving)) return;
        clearTimeout(timer);
        this.waiting.delete(look);
        resolve(performance.now());
      };
      this.waiting.add(look);
      look();
    });
  }

  close(): Promise<void> {
    return this.client.close();
  }

  private take(): void {
    for (const response of this.client.responses.slice(this.taken)) {
      this.taken += 1;
      this.client.ack(response);
      for (const { resource } of response.resources) {
        const { clusterName, endpoints } = ClusterLoadAssignment.decode(resource?.value ?? new Uint8Array());
        const serving = endpoints.flatMap(({ lbEndpoints }) =>
          lbEndpoints.flatMap(({ hostIdentifier, healthStatus }) => {
            const at = hostIdentifier?.$case === 'endpoint' ? hostIdentifier.value.address?.address : undefined;
            if (at?.$case !== 'socketAddress' || !HEALTHY.includes(healthStatus)) return [];
            return [`${at.value.address}:${at.value.portSpecifier?.value}`];
          }),
        );
        this.known.set(clusterName, new Set(serving));
      }
    }
    for (const look of this.waiting) look();
  }
}
