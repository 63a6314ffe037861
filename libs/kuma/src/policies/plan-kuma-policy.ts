import { createHash } from 'node:crypto';
import { identityKey, Label, type Identity, type JsonObject, type Resource } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { planMade } from '../routes/plan-mesh-http-route';

/** The kinds of Kuma that the global generates from policies, with the prefixes of their names. */
export const kumaPolicyKinds = {
  MeshTimeout: 'timeoutpolicy-',
  MeshRetry: 'retrypolicy-',
  MeshTrafficPermission: 'accesspolicy-',
} as const;
export type KumaPolicyKind = keyof typeof kumaPolicyKinds;

export const isKumaPolicyKind = (kind: string): kind is KumaPolicyKind => Object.hasOwn(kumaPolicyKinds, kind);

/** Returns the identity of the resource that the global generates from the policies of a service, or for all servers of a Mesh: one of each kind. */
export function kumaPolicyId(kind: KumaPolicyKind, of: Identity): Identity {
  const name = kumaPolicyKinds[kind] + createHash('sha256').update(identityKey(of)).digest('hex').slice(0, 32);
  return { kind, mesh: of.kind === 'Mesh' ? of.name : of.mesh, zone: '', namespace: 'default', name };
}

/** Reports whether the global generated a resource from policies; resources of a Kuma zone or of another author have no such label and name. */
export function isMadeOfPolicies({ id, labels }: Pick<Resource, 'id' | 'labels'>): boolean {
  if (!isKumaPolicyKind(id.kind) || id.zone !== '') return false;
  return id.name.startsWith(kumaPolicyKinds[id.kind]) && labels[Label.derivedFrom] !== undefined;
}

/** Plans a generated policy of Kuma; see `planMade`. */
export const planKumaPolicy = (
  id: Identity,
  held: Resource | undefined,
  wanted: { readonly of: Resource; readonly spec: JsonObject } | undefined,
): Change | undefined => planMade(id, held, wanted, isMadeOfPolicies);
