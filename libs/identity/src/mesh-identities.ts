import { presetPath } from './identity-paths';
import { type MeshIdentityResource } from './workload-id';
import { IdentityPathState, MeshIdentity, type IdentityPathStateSpec } from '@causeway/kinds';
import { jsonEqual, type Resource } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';

/** Groups MeshIdentities by mesh. Linear in them. */
export function groupIdentitiesByMesh(
  index: Pick<IndexReader, 'ofKind'>,
): ReadonlyMap<string, readonly MeshIdentityResource[]> {
  const byMesh = new Map<string, MeshIdentityResource[]>();
  for (const one of index.ofKind(MeshIdentity.name)) {
    if (!MeshIdentity.is(one)) continue;
    const others = byMesh.get(one.id.mesh);
    if (others) others.push(one);
    else byMesh.set(one.id.mesh, [one]);
  }
  return byMesh;
}

/**
 * Returns whether a change of a MeshIdentity, or of the form of ids in a mesh, may give a Dataplane of `zone` other
 * SPIFFE ids; no other change does.
 */
export function changesWorkloadIds(change: IndexChange, zone: string): boolean {
  const { id, before, after } = change;
  if (id.kind === MeshIdentity.name) return changesIdentities(change, zone);
  if (id.kind !== IdentityPathState.name || id.zone !== zone) return false;
  const [was, is] = [before, after].map((state) => presetPath(stateIn(state)));
  return was?.signs !== is?.signs || was?.accepts.length !== is?.accepts.length;
}

function stateIn(resource: Resource | undefined): IdentityPathStateSpec | undefined {
  return resource && IdentityPathState.is(resource) ? resource.spec : undefined;
}

/** Whether a change of a MeshIdentity, status aside, may give a Dataplane of `zone` another SPIFFE id. */
export function changesIdentities({ id, before, after }: IndexChange, zone: string): boolean {
  if (id.zone !== '' && id.zone !== zone) return false;
  return (
    before === undefined ||
    after === undefined ||
    before.creationOrder !== after.creationOrder ||
    !jsonEqual(before.spec, after.spec)
  );
}
