import { resolveName } from '@causeway/admission';
import { selectedDataplanes } from '@causeway/controllers';
import { compareText, isJsonObject, type Kind, type Resource } from '@causeway/resources';
import { sortedPage } from '@causeway/runtime';
import { json, type Answer } from '../http/answer';
import { pathParameter, queryOf, type Call } from '../http/call';
import { addressParameters, FRESHNESS } from '../read/read-parameters';
import { requireMesh } from '../read/require-mesh';
import { nameQuery, type ReadParts, type ResourceReads } from '../read/resource-reads';
import type { NamingAnswers } from './naming-answers';
import type { Overviews } from './overviews';
import { pageOf, PLAIN_PAGE, readPlainPage } from './plain-page';

/** Views that join several resources, or a resource and what stands beside it (rest.md §1.4, §1.5). */
export class Inspections {
  constructor(
    private readonly parts: ReadParts,
    private readonly reads: ResourceReads,
    private readonly overviews: Overviews,
    private readonly naming: NamingAnswers,
  ) {}

  zones(call: Call): Promise<Answer> {
    return this.overviews.list(call, this.kind('Zone'), undefined);
  }

  zone(call: Call): Promise<Answer> {
    return this.overviews.get(call, this.kind('Zone'), undefined);
  }

  dataplanes(call: Call): Promise<Answer> {
    return this.overviews.list(call, this.kind('Dataplane'), meshOf(call));
  }

  dataplane(call: Call): Promise<Answer> {
    return this.overviews.get(call, this.kind('Dataplane'), meshOf(call));
  }

  hostnames(call: Call): Promise<Answer> {
    return this.naming.table(call);
  }

  hostnamesOf(call: Call): Promise<Answer> {
    return this.naming.ofService(call);
  }

  lookup(call: Call): Promise<Answer> {
    return this.naming.lookup(call);
  }

  explain(call: Call): Promise<Answer> {
    return this.naming.explain(call);
  }

  /** The Dataplanes that a MeshService selects. */
  async dataplanesOf(call: Call): Promise<Answer> {
    const kind = this.kind('MeshService');
    const query = queryOf(call, [...addressParameters(kind), ...PLAIN_PAGE, FRESHNESS]);
    const mesh = meshOf(call);
    const name = nameQuery(call, kind, mesh, query);
    const page = readPlainPage(query);
    await this.reads.ready(query);
    requireMesh(this.parts.index, mesh ?? '');
    const service = resolveName(this.parts.index, this.parts.cp, name);
    // All are of one mesh, zone and namespace.
    const byName = (a: Resource, b: Resource): number => compareText(a.id.name, b.id.name);
    const found = await this.parts.costly.run(
      (signal) => sortedPage(selectedDataplanes(service, this.parts.index.ofKind('Dataplane')), byName, page, signal),
      this.parts.lives.signalOf(call),
    );
    const items = found.items.map(({ id, labels }) => ({
      type: id.kind,
      mesh: id.mesh,
      namespace: id.namespace,
      name: id.name,
      labels,
    }));
    return json(pageOf(call, { total: found.total, items }, page));
  }

  private kind(name: string): Kind {
    const kind = this.parts.registry.kind(name);
    if (!kind) throw new Error(`the registry has no ${name}`);
    return kind;
  }
}

function meshOf(call: Call): string | undefined {
  return isJsonObject(call.params) && 'mesh' in call.params ? pathParameter(call, 'mesh') : undefined;
}
