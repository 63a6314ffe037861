import type { ProxyDirectory } from '../proxies/proxy-directory';
import type { Asked, ProgressSource, ResourceProgress } from './progress';
import { ProxyProgress } from './proxy-progress';
import { Refusals } from './refusals';

/** Who has applied what a zone made: the zone's own proxies. */
export class ZoneProgress implements ProgressSource {
  readonly refusals: Refusals;
  private readonly counts: ProxyProgress;

  constructor(private readonly proxies: Pick<ProxyDirectory, 'isLoaded' | 'all' | 'storeNow' | 'changesSince'>) {
    this.counts = new ProxyProgress(proxies);
    this.refusals = new Refusals(this.counts);
  }

  of({ concerned, needs, since }: Asked): ResourceProgress | undefined {
    return this.counts.isLoaded ? this.counts.of(concerned, needs, since) : undefined;
  }

  get version(): string {
    const { proxies } = this;
    return proxies.isLoaded ? String(proxies.changesSince(undefined).next) : '';
  }
}
