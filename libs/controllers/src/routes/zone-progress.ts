import type { RouteKind } from '@causeway/routing';
import { routeKinds } from '@causeway/routing';
import type { ProxyDirectory } from '../proxies/proxy-directory';
import type { RouteProgress } from './programmed';
import { ProxyProgress } from './proxy-progress';
import type { AskedRoute, ProgressSource } from './route-status-reconciler';

/** Who has applied the routes that a zone made: the zone's own proxies. */
export class ZoneProgress implements ProgressSource {
  private readonly counts: ProxyProgress;
  private lookedAt: number | undefined;

  constructor(private readonly proxies: Pick<ProxyDirectory, 'isLoaded' | 'all' | 'storeNow' | 'changesSince'>) {
    this.counts = new ProxyProgress(proxies);
  }

  of({ route: { id }, namespace, since }: AskedRoute): RouteProgress | undefined {
    const kind = routeKinds.find((known): known is RouteKind => known === id.kind);
    return kind && this.counts.isLoaded ? this.counts.of({ mesh: id.mesh, namespace }, kind, since) : undefined;
  }

  hasMoved(): boolean {
    if (!this.proxies.isLoaded) return false;
    const { next, owners } = this.proxies.changesSince(this.lookedAt);
    this.lookedAt = next;
    return owners.length > 0;
  }
}
