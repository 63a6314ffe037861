import type { CallerRights } from '@causeway/access';
import { toDocument, type NameQuery } from '@causeway/admission';
import type { GeneratorDryRun } from '@causeway/api';
import { selectedDataplanes } from '@causeway/dataplanes';
import { compareText, type Identity, type JsonObject, type Kind, type Resource } from '@causeway/resources';
import { sortedPage, type PageRange, type SortedPage } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import type { ConcurrencyLimit } from '../concurrency-limit';
import type { ListRequest, ListResult, ResourceQueries } from '../list/resource-queries';
import { readInsights, type DraftedResource, type Insights } from './insights';

/** Dependencies of Inspections. */
export interface InspectionsSources {
  readonly index: IndexReader;
  readonly resources: ResourceQueries;
  readonly insights: Insights;
  /** Limits queries that may scan very much. */
  readonly expensive: ConcurrencyLimit;
}

/** A page of overviews; `overviews` has one element for each of `resources`. */
export interface OverviewPage extends ListResult {
  readonly overviews: readonly JsonObject[];
}

/** A Dataplane that a service selects. */
export interface SelectedDataplane {
  readonly type: string;
  readonly mesh: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Resource['labels'];
}

/** Views that join several resources, or a resource and its insight (docs/reference/kuma-rest.md §1.4, §1.5). */
export class Inspections {
  constructor(private readonly sources: InspectionsSources) {}

  /** Returns a page of overviews of Zones or Dataplanes; rejects as ResourceQueries.list does. */
  async overviews(kind: Kind, request: ListRequest, signal: () => AbortSignal): Promise<OverviewPage> {
    const page = await this.sources.resources.list(request, signal);
    const insights = await readInsights(this.sources.insights, page.resources, signal());
    return { ...page, overviews: page.resources.map((resource, i) => toOverview(kind, resource, insights[i])) };
  }

  /** Returns one overview; an unknown insight is an empty object. Rejects as ResourceQueries.get does. */
  async overview(name: NameQuery, rights: CallerRights, minRevision?: number): Promise<JsonObject> {
    const resource = await this.sources.resources.get(name, rights, minRevision);
    return toOverview(name.kind, resource, (await this.sources.insights.insightOf?.(resource)) ?? {});
  }

  /**
   * Returns the Dataplanes that a MeshService selects, by name. Rejects as ResourceQueries.get does, and with
   * AccessDenied if the caller may not list the Dataplanes of the service's namespace.
   */
  async dataplanesOf(
    service: NameQuery,
    rights: CallerRights,
    { range, minRevision }: { readonly range: PageRange; readonly minRevision?: number | undefined },
    signal: AbortSignal,
  ): Promise<SortedPage<SelectedDataplane>> {
    const selecting = await this.sources.resources.get(service, rights, minRevision);
    const { mesh, namespace } = selecting.id;
    rights.check('list', { kind: 'Dataplane', mesh, namespace });
    // All Dataplanes of a service have the same mesh, zone and namespace.
    const byName = (a: Resource, b: Resource): number => compareText(a.id.name, b.id.name);
    const { total, items } = await this.sources.expensive.run((running) => {
      const selected = selectedDataplanes(selecting, this.sources.index.ofKind('Dataplane'));
      return sortedPage(selected, byName, range, running);
    }, signal);
    return { total, items: items.map(dataplaneItem) };
  }

  /** Returns the consequences of a write, for the response of a dry run; undefined if there is nothing to show. */
  async consequences(draft: DraftedResource, signal: AbortSignal): Promise<GeneratorDryRun | undefined> {
    const { consequences } = this.sources.insights;
    if (!consequences) return undefined;
    return this.sources.expensive.run(async (running) => consequences(draft, running), signal);
  }

  /** Returns warnings for a user who deletes a resource. */
  deletionWarnings(id: Identity): readonly string[] {
    return this.sources.insights.deletionWarnings?.(id) ?? [];
  }
}

function toOverview(kind: Kind, resource: Resource, insight: JsonObject | undefined): JsonObject {
  const { spec, status: _status, ...envelope } = toDocument(kind, resource);
  const field = kind.name.charAt(0).toLowerCase() + kind.name.slice(1);
  return {
    ...envelope,
    type: `${kind.name}Overview`,
    [field]: spec,
    ...(insight === undefined ? {} : { [`${field}Insight`]: insight }),
  };
}

function dataplaneItem({ id, labels }: Resource): SelectedDataplane {
  return { type: id.kind, mesh: id.mesh, namespace: id.namespace, name: id.name, labels };
}
