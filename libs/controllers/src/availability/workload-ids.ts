import { identityFor, spiffeIdOf, type MeshIdentityResource } from '@causeway/identity';
import { MeshIdentity } from '@causeway/kinds';
import { compareText, type JsonObject } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import type { DataplaneResource, ServiceResource } from '../matching/dataplane-selector';

/** Ids of one service; the kind has this bound. */
export const MOST_IDENTITIES = 1_024;

/** `spec.identities` of a MeshService. */
export type ServiceIdentities = NonNullable<ServiceResource['spec']['identities']>;

/**
 * The SPIFFE ids of Dataplanes, by the MeshIdentities of their meshes. An id is computed once for each stored state of a
 * Dataplane; the MeshIdentities are as of the last `reset`.
 */
export class WorkloadIds {
  private byMesh: ReadonlyMap<string, readonly MeshIdentityResource[]> = new Map();
  private known = new WeakMap<DataplaneResource, { readonly uri: string | undefined }>();

  /** Reads the MeshIdentities anew. */
  reset(index: Pick<IndexReader, 'ofKind'>): void {
    const byMesh = new Map<string, MeshIdentityResource[]>();
    for (const one of index.ofKind(MeshIdentity.name)) {
      if (!MeshIdentity.is(one)) continue;
      const others = byMesh.get(one.id.mesh);
      if (others) others.push(one);
      else byMesh.set(one.id.mesh, [one]);
    }
    this.byMesh = byMesh;
    this.known = new WeakMap();
  }

  /** The id of a Dataplane; undefined where no MeshIdentity selects it, or the one that does gives it no id. */
  idOf(dataplane: DataplaneResource): string | undefined {
    const identities = this.byMesh.get(dataplane.id.mesh);
    if (!identities) return undefined;
    const known = this.known.get(dataplane);
    if (known) return known.uri;
    const identity = identityFor(dataplane, identities);
    const found = identity && spiffeIdOf(dataplane, identity);
    const uri = found?.ok === true ? found.id.uri : undefined;
    this.known.set(dataplane, { uri });
    return uri;
  }
}

/** The identities of a service with these SPIFFE ids, sorted; of more than the kind allows the first. */
export function serviceIdentities(uris: Iterable<string>): ServiceIdentities {
  const sorted = [...new Set(uris)].sort(compareText).slice(0, MOST_IDENTITIES);
  return sorted.map((value) => ({ type: 'SpiffeID', value }));
}

/** The part of a spec that says the identities; without any the field is left out. */
export function identitiesPart(identities: ServiceIdentities): JsonObject {
  return identities.length === 0 ? {} : { identities: identities.map(({ type, value }) => ({ type, value })) };
}
