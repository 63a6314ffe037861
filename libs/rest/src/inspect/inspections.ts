import { resolveName } from '@causeway/admission';
import { selectedDataplanes } from '@causeway/controllers';
import { compareText, isJsonObject, type Kind, type Resource } from '@causeway/resources';
import { sortedPage } from '@causeway/runtime';
import { jsonResponse, type RestResponse } from '../http/rest-response';
import { pathParameter, queryOf, type RestRequest } from '../http/rest-request';
import { addressParameters, FRESHNESS } from '../read/read-parameters';
import { requireMesh } from '../read/require-mesh';
import { nameQuery, type ReadParts, type ResourceReads } from '../read/resource-reads';
import type { NamingAnswers } from './naming-answers';
import type { Overviews } from './overviews';
import { pageOf, OFFSET_PAGE_PARAMETERS, readOffsetPage } from './plain-page';

/** Views that join several resources, or a resource and what stands beside it (rest.md §1.4, §1.5). */
export class Inspections {
  constructor(
    private readonly parts: ReadParts,
    private readonly reads: ResourceReads,
    private readonly overviews: Overviews,
    private readonly naming: NamingAnswers,
  ) {}

  zones(call: RestRequest): Promise<RestResponse> {
    return this.overviews.list(call, this.kind('Zone'), undefined);
  }

  zone(call: RestRequest): Promise<RestResponse> {
    return this.overviews.get(call, this.kind('Zone'), undefined);
  }

  dataplanes(call: RestRequest): Promise<RestResponse> {
    return this.overviews.list(call, this.kind('Dataplane'), meshOf(call));
  }

  dataplane(call: RestRequest): Promise<RestResponse> {
    return this.overviews.get(call, this.kind('Dataplane'), meshOf(call));
  }

  hostnames(call: RestRequest): Promise<RestResponse> {
    return this.naming.table(call);
  }

  hostnamesOf(call: RestRequest): Promise<RestResponse> {
    return this.naming.ofService(call);
  }

  lookup(call: RestRequest): Promise<RestResponse> {
    return this.naming.lookup(call);
  }

  explain(call: RestRequest): Promise<RestResponse> {
    return this.naming.explain(call);
  }

  /** The Dataplanes that a MeshService selects. */
  async dataplanesOf(call: RestRequest): Promise<RestResponse> {
    const kind = this.kind('MeshService');
    const query = queryOf(call, [...addressParameters(kind), ...OFFSET_PAGE_PARAMETERS, FRESHNESS]);
    const mesh = meshOf(call);
    const name = nameQuery(call, kind, mesh, query);
    const page = readOffsetPage(query);
    await this.reads.ready(query);
    requireMesh(this.parts.index, mesh ?? '');
    const service = resolveName(this.parts.index, this.parts.cp, name);
    // All are of one mesh, zone and namespace.
    const byName = (a: Resource, b: Resource): number => compareText(a.id.name, b.id.name);
    const found = await this.parts.costly.run(
      (signal) => sortedPage(selectedDataplanes(service, this.parts.index.ofKind('Dataplane')), byName, page, signal),
      this.parts.requestSignals.signalOf(call),
    );
    const items = found.items.map(({ id, labels }) => ({
      type: id.kind,
      mesh: id.mesh,
      namespace: id.namespace,
      name: id.name,
      labels,
    }));
    return jsonResponse(pageOf(call, { total: found.total, items }, page));
  }

  private kind(name: string): Kind {
    const kind = this.parts.registry.kind(name);
    if (!kind) throw new Error(`the registry has no ${name}`);
    return kind;
  }
}

function meshOf(call: RestRequest): string | undefined {
  return isJsonObject(call.params) && 'mesh' in call.params ? pathParameter(call, 'mesh') : undefined;
}
