import type { ProxyDirectory } from '../proxies/proxy-directory';
import type { ApplyProgress, ProgressQuery, ProgressSource } from './apply-progress';
import { ProxyProgress } from './proxy-progress';
import { UnsupportedWatch } from './unsupported-watch';

/** Counts the zone's own proxies that have applied resources made in the zone. */
export class ZoneProgress implements ProgressSource {
  readonly unsupported: UnsupportedWatch;
  private readonly counts: ProxyProgress;

  constructor(private readonly proxies: Pick<ProxyDirectory, 'isLoaded' | 'all' | 'storeNow' | 'changesSince'>) {
    this.counts = new ProxyProgress(proxies);
    this.unsupported = new UnsupportedWatch(this.counts);
  }

  of(query: ProgressQuery): ApplyProgress | undefined {
    return this.counts.isLoaded ? this.counts.of(query, query.since) : undefined;
  }

  get version(): string {
    const { proxies } = this;
    return proxies.isLoaded ? String(proxies.changesSince(undefined).next) : '';
  }
}
