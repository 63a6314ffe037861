import { createHash } from 'node:crypto';
import { resolveTrustDomain, type MeshIdentityResource } from '@causeway/identity';
import { MeshTrust } from '@causeway/kinds';
import {
  compareOrders,
  compareText,
  computedLabels,
  FieldPath,
  globalIdentity,
  identityKey,
  jsonEqual,
  Label,
  withCondition,
  withoutConditions,
  type Identity,
  type Resource,
  type SpecOf,
} from '@causeway/resources';
import type { Change, PatchChange } from '@causeway/store';
import { SyncCondition } from '@causeway/sync';

/** A MeshTrust as its kind describes it. */
export type TrustResource = Resource<SpecOf<typeof MeshTrust>>;

/** The reason why a zone's MeshTrust does not count. */
export interface TrustRefusal {
  readonly reason: 'RulesBroken' | 'TrustDomainOfAnother' | 'TrustDomainTaken';
  readonly message: string;
}

/** The inputs of the decision about one trust domain of a mesh. */
export interface DomainInputs {
  readonly mesh: string;
  readonly trustDomain: string;
  /** The MeshTrusts of this mesh and domain: of existing zones, and the operator's; derived ones are left out. */
  readonly claims: readonly TrustResource[];
  /** The MeshIdentities of the mesh that were made on the global. */
  readonly identities: readonly MeshIdentityResource[];
  /** The uid of the MeshTrust that holds the domain so far. */
  readonly holder: string | undefined;
}

/** The evaluation of one domain: the claim from which its trust is derived, and the refused claims. */
export interface DomainEvaluation {
  readonly source: TrustResource | undefined;
  /** By index key. */
  readonly refused: ReadonlyMap<string, TrustRefusal>;
}

const PREFIX = 'derived-';

/** Returns the name of the MeshTrust of a domain: a trust domain may not be a valid name. */
export function trustName(prefix: string, trustDomain: string): string {
  return `${prefix}${createHash('sha256').update(trustDomain).digest('hex').slice(0, 32)}`;
}

/** Returns the identity of the MeshTrust that the global derives for a domain. */
export function derivedTrustId(mesh: string, trustDomain: string): Identity {
  return { ...globalIdentity(MeshTrust.name, trustName(PREFIX, trustDomain)), mesh };
}

/** Reports whether the global derived this MeshTrust: the operator's and those of zones are sources. */
export function isDerivedTrust({ id, labels }: Resource): boolean {
  return id.zone === '' && labels[Label.derivedFrom] !== undefined && id.name.startsWith(PREFIX);
}

/**
 * Decides about one domain (docs/design.md §4). A zone's MeshTrust counts for the domains that are bound to the name with which the zone
 * authenticated: `<mesh>.<zone>.mesh.local`, and the domains that a MeshIdentity of the global gives in that zone. The operator's own has precedence
 * over those of zones; among zones the current holder of the domain, so that no other can take it over, else the oldest, then by zone and name.
 * Independent of the order of the claims.
 */
export function evaluateDomain({ mesh, trustDomain, claims, identities, holder }: DomainInputs): DomainEvaluation {
  const refused = new Map<string, TrustRefusal>();
  const own = claims.find(({ id }) => id.zone === '');
  const bound = new Map<string, boolean>();
  const allowed = claims.filter((claim) => {
    const { zone } = claim.id;
    if (zone === '') return false;
    const isBound = bound.get(zone) ?? isBoundTo(trustDomain, { mesh, zone }, identities);
    bound.set(zone, isBound);
    const refusal = isBound ? brokenRule(claim) : foreign(claim, identities);
    if (refusal) refused.set(identityKey(claim.id), refusal);
    return refusal === undefined;
  });
  const [first] = [...allowed].sort(
    (a, b) => Number(b.uid === holder) - Number(a.uid === holder) || compareClaims(a, b),
  );
  const winner = own ?? first;
  for (const claim of allowed) {
    if (claim === winner || winner === undefined) continue;
    const by = `MeshTrust ${winner.id.name} of ${winner.id.zone === '' ? 'the global' : `zone ${winner.id.zone}`}`;
    refused.set(identityKey(claim.id), {
      reason: 'TrustDomainTaken',
      message: `trust domain "${trustDomain}" is that of ${by}`,
    });
  }
  return { source: own ? undefined : first, refused };
}

function isBoundTo(
  trustDomain: string,
  { mesh, zone }: { readonly mesh: string; readonly zone: string },
  identities: readonly MeshIdentityResource[],
): boolean {
  if (trustDomain === `${mesh}.${zone}.mesh.local`) return true;
  return identities.some((identity) => {
    const given = resolveTrustDomain(identity, zone);
    return given.ok && given.trustDomain === trustDomain;
  });
}

function foreign({ id, spec }: TrustResource, identities: readonly MeshIdentityResource[]): TrustRefusal {
  const given = identities.length === 0 ? '' : ', and what a MeshIdentity of the global gives in that zone';
  const bound = `bound to zone ${id.zone} are ${id.mesh}.${id.zone}.mesh.local${given}`;
  return {
    reason: 'TrustDomainOfAnother',
    message: `spec.trustDomain: must be a trust domain of the zone; ${bound}; got "${spec.trustDomain}"`,
  };
}

/** Sync accepts specs that break rules; a trust for all zones is validated completely. */
function brokenRule(trust: TrustResource): TrustRefusal | undefined {
  const known = checked.get(trust);
  if (known) return known.refusal;
  const [violation] = MeshTrust.check(trust.spec, FieldPath.at('spec')).first;
  const refusal = violation && {
    reason: 'RulesBroken' as const,
    message: `${violation.field}: ${violation.reason}`,
  };
  checked.set(trust, { refusal });
  return refusal;
}

/** Certificates are parsed once for each stored state. */
const checked = new WeakMap<TrustResource, { readonly refusal: TrustRefusal | undefined }>();

function compareClaims(a: TrustResource, b: TrustResource): number {
  return (
    compareOrders(a.creationOrder, b.creationOrder) ||
    compareText(a.id.zone, b.id.zone) ||
    compareText(a.id.name, b.id.name)
  );
}

/** Plans the change that makes the derived MeshTrust of a domain equal to its source; undefined if it is. */
export function planDerivedTrust(
  id: Identity,
  source: TrustResource | undefined,
  derived: Resource | undefined,
): Change | undefined {
  if (!source) return derived && { type: 'delete', id, expect: derived.revision };
  const { trustDomain, caBundles, origin } = source.spec;
  const spec = {
    trustDomain,
    caBundles: caBundles.map(({ type, pem }) => ({ type, ...(pem ? { pem: { value: pem.value } } : {}) })),
    ...(origin?.kri === undefined ? {} : { origin: { kri: origin.kri } }),
  };
  const labels = { ...computedLabels(MeshTrust, id, { role: 'global' }), [Label.derivedFrom]: source.uid };
  if (derived && jsonEqual(derived.spec, spec) && jsonEqual(derived.labels, labels)) return undefined;
  return { type: 'put', id, expect: derived?.revision ?? 'absent', labels, spec };
}

/** Returns the patch of the condition of a zone's MeshTrust about its refusal; undefined if it is up to date. */
export function planTrustCondition(
  trust: TrustResource,
  refusal: TrustRefusal | undefined,
  now: number,
): PatchChange | undefined {
  const before = trust.status ?? {};
  const type = SyncCondition.trustRefused;
  const status = refusal
    ? withCondition(before, { type, status: 'True', ...refusal, observedGeneration: trust.generation }, now)
    : withoutConditions(before, [type]);
  return status === before ? undefined : { type: 'patch', id: trust.id, expect: trust.revision, status };
}
