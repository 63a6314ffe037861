import type { Meshes } from '@causeway/meshes';
import { type Identity } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import { RESOURCE_TYPES, type SourceListener } from '@causeway/xds-server';
import { EnvoyResources, type AccessSource, type EnvoyView } from '@causeway/xds-translation';
import { OracleSource } from '../../support/oracle-source';
import { resourceOptions, zoneResources } from '../../support/zone-resources';

/** A listener of what proxies are sent that misses some of it; only runs that test the checker have one. */
export type ProxyFault = (listener: SourceListener<EnvoyView>) => SourceListener<EnvoyView>;

export interface ProxyCheckOptions {
  readonly index: IndexReader;
  readonly zone: string;
  readonly meshes: Meshes;
  readonly report: (difference: string) => void;
  readonly fault?: ProxyFault;
}

const LISTED = [RESOURCE_TYPES.cluster, RESOURCE_TYPES.listener];
/** Dataplanes of a zone that have a proxy. */
const MAX_DATAPLANES = 2;

const NOBODY: Omit<AccessSource, 'meshes'> = {
  isReady: () => true,
  onReady: () => () => undefined,
  takesTls: () => false,
  onTls: () => () => undefined,
};

/**
 * Proxies of one replica of a zone: one that listens for every service, the zone's ingress, and those of some Dataplanes. Their resources for which
 * no change was announced are compared with a build from nothing.
 */
export class ProxyCheck {
  private readonly oracle: OracleSource;
  private readonly views: EnvoyView[] = [
    { mesh: 'default', capture: { type: 'bind' }, listed: 'all' },
    { mesh: '', ingress: { address: '127.0.0.1', port: 10_001 }, listed: new Set() },
  ];
  private readonly dataplanes: Identity[] = [];

  constructor(private readonly options: ProxyCheckOptions) {
    const { index, zone, meshes, fault = (listener) => listener } = options;
    const place = { index, access: { ...NOBODY, meshes } };
    const source = new FaultyResources(index, zone, place.access, resourceOptions(place, zone));
    source.fault = fault;
    source.follow();
    this.oracle = new OracleSource(source, () => zoneResources(place, zone));
    // It subscribes after all that follows the index, so it sees what each change has led to.
    index.subscribe(() => this.check());
  }

  /** Returns the number of compared answers. */
  get compared(): number {
    return this.oracle.compared;
  }

  /** Reports the first difference, and takes everything anew. */
  check(): void {
    this.oracle.check();
    const [difference] = this.oracle.differences;
    if (difference !== undefined) this.options.report(`${this.options.zone}: ${difference}`);
    this.addDataplanes();
    for (const view of this.views)
      for (const type of LISTED)
        for (const name of this.oracle.names({ id: 'simulated', view }, type)) this.take(view, type, name);
  }

  private take(view: EnvoyView, type: string, name: string): void {
    this.oracle.get(view, type, name);
    if (type === RESOURCE_TYPES.cluster) this.oracle.get(view, RESOURCE_TYPES.endpoints, name);
  }

  private addDataplanes(): void {
    if (this.dataplanes.length === MAX_DATAPLANES) return;
    for (const { id } of this.options.index.ofKind('Dataplane')) {
      const isKnown = this.dataplanes.some(({ name }) => name === id.name);
      if (isKnown || id.zone !== this.options.zone || this.dataplanes.length === MAX_DATAPLANES) continue;
      this.dataplanes.push(id);
      this.views.push({ mesh: id.mesh, dataplane: id, capture: { type: 'bind' }, listed: 'declared' });
    }
  }
}

/** Resources whose announcements pass through a fault. */
class FaultyResources extends EnvoyResources {
  fault: ProxyFault = (listener) => listener;

  override subscribe(listener: SourceListener<EnvoyView>): () => void {
    return super.subscribe(this.fault(listener));
  }
}
