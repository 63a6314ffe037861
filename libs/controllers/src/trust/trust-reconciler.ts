import { type MeshIdentityResource, changesIdentities } from '@causeway/identity';
import { MeshIdentity, MeshTrust } from '@causeway/kinds';
import { globalIdentity, identityKey, Label, type Resource, type ResourceKey } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import { KeyedLoop, NO_KEYS, RESCAN, type KeyedReconciler, type Keys, type ReconcileResult } from '@causeway/loops';
import {
  derivedTrustId,
  isDerivedTrust,
  evaluateDomain,
  planDerivedTrust,
  planTrustCondition,
  type DomainEvaluation,
  type TrustResource,
} from './plan-trust';

/** A domain of a mesh, and the keys of the MeshTrusts that claim it. */
interface Domain {
  readonly mesh: string;
  readonly trustDomain: string;
  readonly claims: Set<ResourceKey>;
  /** The latest evaluation; `isStale` after a change of a claim. */
  evaluation?: DomainEvaluation | undefined;
  isStale: boolean;
}

/**
 * Derives one MeshTrust for each trust domain from those that zones sent, on the global: zones sync theirs up and get those of others only this way
 * (docs/design.md §4). Refused ones have the condition `TrustRefused`. A lost zone keeps its trust, a deleted one loses it. A change costs the claims
 * of its domains; a MeshIdentity or Zone that comes or goes costs a walk through all MeshTrusts.
 */
class TrustReconciler implements KeyedReconciler {
  readonly name = 'trust';
  /** By the key of the derived MeshTrust. */
  private readonly domains = new Map<ResourceKey, Domain>();
  /** The key of the derived MeshTrust, by the key of a claim. */
  private readonly domainOf = new Map<ResourceKey, ResourceKey>();

  seed(index: IndexReader): Iterable<Keys> {
    this.domains.clear();
    this.domainOf.clear();
    return this.walk(index);
  }

  listKeys(change: IndexChange, index: IndexReader): readonly (ResourceKey | typeof RESCAN)[] {
    const { id, key, before, after } = change;
    if (id.kind === MeshTrust.name) return this.keysOfTrust(key, index);
    const comesOrGoes = before === undefined || after === undefined;
    if (id.kind === 'Zone') return comesOrGoes ? [RESCAN] : NO_KEYS;
    return id.kind === MeshIdentity.name && changesIdentities(change, '') ? [RESCAN] : NO_KEYS;
  }

  reconcile(key: ResourceKey, index: IndexReader, now: number): ReconcileResult | undefined {
    const held = index.byIdentityKey(key);
    const derivedKey = this.domainOf.get(key);
    if (derivedKey !== undefined) {
      const evaluation = this.evaluate(derivedKey, index);
      if (!held || held.id.zone === '' || !MeshTrust.is(held)) return undefined;
      return { change: planTrustCondition(held, evaluation?.refused.get(key), now) };
    }
    const domain = this.domains.get(key);
    if (domain) {
      const id = derivedTrustId(domain.mesh, domain.trustDomain);
      return { change: planDerivedTrust(id, this.evaluate(key, index)?.source, held) };
    }
    return held && isDerivedTrust(held) ? { change: planDerivedTrust(held.id, undefined, held) } : undefined;
  }

  private *walk(index: IndexReader): Generator<Keys> {
    for (const { id } of index.ofKind(MeshTrust.name)) {
      const key = identityKey(id);
      this.file(key, index);
      yield [key, this.domainOf.get(key) ?? key];
    }
  }

  /** A change of one claim affects the evaluation of others only if the claim is the winner, or the operator's. */
  private keysOfTrust(key: ResourceKey, index: IndexReader): Keys {
    const before = this.domainOf.get(key);
    const former = before === undefined ? NO_KEYS : this.touched(before, key, index);
    this.file(key, index);
    const after = this.domainOf.get(key) ?? key;
    return [...new Set([key, ...former, ...this.touched(after, key, index)])];
  }

  private touched(derivedKey: ResourceKey, key: ResourceKey, index: IndexReader): Keys {
    const domain = this.domains.get(derivedKey);
    if (!domain) return [derivedKey];
    domain.isStale = true;
    const { source } = domain.evaluation ?? {};
    const changed = index.byIdentityKey(key);
    const isHolder = key === derivedKey ? changed?.labels[Label.derivedFrom] === source?.uid : changed?.id.zone !== '';
    const isSettled = source !== undefined && changed !== undefined && identityKey(source.id) !== key && isHolder;
    return isSettled ? [derivedKey] : [derivedKey, ...domain.claims];
  }

  /** Files a MeshTrust under the domain that it claims. */
  private file(key: ResourceKey, index: IndexReader): void {
    const before = this.domainOf.get(key);
    const domainBefore = before === undefined ? undefined : this.domains.get(before);
    const held = index.byIdentityKey(key);
    const claim = held && !isDerivedTrust(held) && MeshTrust.is(held) ? held : undefined;
    const trustDomain: unknown = claim?.spec.trustDomain;
    if (before !== undefined) {
      domainBefore?.claims.delete(key);
      this.domainOf.delete(key);
    }
    if (claim && typeof trustDomain === 'string') {
      const { mesh } = claim.id;
      const derivedKey = identityKey(derivedTrustId(mesh, trustDomain));
      const domain = this.domains.get(derivedKey) ?? { mesh, trustDomain, claims: new Set(), isStale: true };
      this.domains.set(derivedKey, domain);
      domain.claims.add(key);
      domain.isStale = true;
      this.domainOf.set(key, derivedKey);
    }
    if (before !== undefined && domainBefore?.claims.size === 0) this.domains.delete(before);
  }

  private evaluate(derivedKey: ResourceKey, index: IndexReader): DomainEvaluation | undefined {
    const domain = this.domains.get(derivedKey);
    if (!domain) return undefined;
    if (domain.evaluation && !domain.isStale) return domain.evaluation;
    const { mesh, trustDomain } = domain;
    const claims = [...domain.claims].flatMap((key) => asClaim(index.byIdentityKey(key), index));
    const holder = index.byIdentityKey(derivedKey)?.labels[Label.derivedFrom] ?? domain.evaluation?.source?.uid;
    domain.evaluation = evaluateDomain({ mesh, trustDomain, claims, identities: listIdentities(mesh, index), holder });
    domain.isStale = false;
    return domain.evaluation;
  }
}

function asClaim(resource: Resource | undefined, index: IndexReader): readonly TrustResource[] {
  if (!resource || !MeshTrust.is(resource)) return [];
  const { zone } = resource.id;
  return zone === '' || index.get(globalIdentity('Zone', zone)) ? [resource] : [];
}

function listIdentities(mesh: string, index: IndexReader): readonly MeshIdentityResource[] {
  return [...index.ofKind(MeshIdentity.name)].filter(
    (one): one is MeshIdentityResource => MeshIdentity.is(one) && one.id.mesh === mesh && one.id.zone === '',
  );
}

/** Creates the loop of derived trust for the global's leader. */
export function createTrustLoop(): KeyedLoop {
  return new KeyedLoop(new TrustReconciler());
}
