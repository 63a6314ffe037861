import type { CallerRights } from '@causeway/access';
import { resolveName, type NameQuery } from '@causeway/admission';
import type { Meshes } from '@causeway/meshes';
import { parseKri } from '@causeway/naming';
import { NotFound, type ControlPlane, type Registry, type Resource, type StorePoint } from '@causeway/resources';
import { splitIntoBatches, yieldToEventLoop } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import { InvalidQuery, shown } from '../errors';
import type { ReadYourWrites } from './read-your-writes';
import { isSelected, type Lister, type ListPage, type ListScope, type Selection } from './lister';
import type { PageRequest } from './page';

/** Number of resources that a snapshot reads in one turn of the event loop. */
const BATCH_SIZE = 1_000;

/** The requested page of a list, and its minimum revision. */
export interface ListRequest {
  readonly scope: ListScope;
  readonly page: PageRequest;
  readonly minRevision?: number | undefined;
}

/** A page and the revision that it shows. */
export interface ListResult extends ListPage {
  readonly revision: number;
}

/** A complete list at one revision of the store; it does not change while it is read. */
export interface ListSnapshot {
  readonly point: StorePoint;
  /** Filtered while it is read: nothing is copied for a reader who stops early. */
  readonly resources: AsyncIterable<Resource>;
}

/** Dependencies of ResourceQueries. */
export interface ResourceQueriesSources {
  readonly registry: Registry;
  readonly cp: ControlPlane;
  readonly index: IndexReader;
  readonly meshes: Pick<Meshes, 'exists'>;
  readonly lister: Lister;
  readonly readYourWrites: ReadYourWrites;
}

/** Lists and single resources, read from the in-memory index. */
export class ResourceQueries {
  constructor(private readonly sources: ResourceQueriesSources) {}

  /** Returns one page of a list. Rejects with NotFound for a missing mesh and as ReadYourWrites.wait does. */
  async list({ scope, page, minRevision }: ListRequest, signal: () => AbortSignal): Promise<ListResult> {
    const { meshes, lister, readYourWrites } = this.sources;
    await readYourWrites.wait(minRevision);
    if (scope.mesh !== undefined) requireMesh(meshes, scope.mesh);
    const { total, resources, more } = await lister.page(scope, page, signal);
    return { total, resources, more, revision: readYourWrites.revision() };
  }

  /**
   * Returns a complete list at one revision, however long its reader takes. Rejects with NotFound for a missing mesh
   * and as ReadYourWrites.wait does.
   */
  async snapshot(scope: ListScope, minRevision: number | undefined, signal: AbortSignal): Promise<ListSnapshot> {
    const { index, meshes, lister, readYourWrites } = this.sources;
    await readYourWrites.wait(minRevision);
    if (scope.mesh !== undefined) requireMesh(meshes, scope.mesh);
    await lister.ready(scope.kind, () => signal);
    const held = lister.snapshot(scope);
    const point = { incarnation: index.point?.incarnation ?? '', revision: readYourWrites.revision() };
    return { point, resources: filterSelected(held, scope.selection) };
  }

  /**
   * Returns one resource by its plain name or its name on the KDS wire. Rejects with AccessDenied if the caller may not
   * get it, whether it exists or not; with NotFound, also for a missing mesh.
   */
  async get(name: NameQuery, rights: CallerRights, minRevision?: number): Promise<Resource> {
    await this.sources.readYourWrites.wait(minRevision);
    return this.find(name, rights);
  }

  /** Returns the resource that a KRI identifies. Rejects with InvalidQuery for text that is no KRI, and as `get` does. */
  async byKri(kri: string, rights: CallerRights): Promise<Resource> {
    const name = this.parseKri(kri);
    await this.sources.readYourWrites.wait();
    return this.find(name, rights);
  }

  private find(name: NameQuery, rights: CallerRights): Resource {
    const { index, cp, meshes } = this.sources;
    try {
      return resolveName(index, cp, name, rights);
    } catch (error) {
      if (error instanceof NotFound && name.mesh !== undefined) requireMesh(meshes, name.mesh);
      throw error;
    }
  }

  private parseKri(text: string): NameQuery {
    const parsed = parseKri(text);
    if (!parsed.ok) throw new InvalidQuery(`This is no resource identifier: ${shown(parsed.reason)}.`);
    const { shortName, mesh, namespace, zone, name } = parsed.kri;
    const kind = this.sources.registry.kinds.find((candidate) => candidate.shortName === shortName);
    if (!kind) throw new InvalidQuery(`This is no resource identifier: no kind is called "${shown(shortName)}".`);
    return { kind, name, mesh, zone, ...(namespace === '' ? {} : { namespace }) };
  }
}

/** Yields the selected resources, in slices of the event loop. */
async function* filterSelected(resources: readonly Resource[], selection: Selection): AsyncGenerator<Resource> {
  for (const batch of splitIntoBatches(resources, BATCH_SIZE)) {
    for (const resource of batch) if (isSelected(resource, selection)) yield resource;
    await yieldToEventLoop();
  }
}

/** Throws NotFound unless the mesh exists on this control plane. */
export function requireMesh(meshes: Pick<Meshes, 'exists'>, mesh: string): void {
  if (meshes.exists(mesh)) return;
  throw new NotFound(`Mesh ${mesh} does not exist`);
}
