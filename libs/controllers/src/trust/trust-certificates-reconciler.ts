import { MeshTrust } from '@causeway/kinds';
import {
  identityKey,
  withCondition,
  withoutConditions,
  type Condition,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import { KeyedLoop, NO_KEYS, type KeyedReconciler, type Keys, type ReconcileResult } from '@causeway/loops';
import { certificatesOfTrust } from './bundle-certificates';

/** The condition of a MeshTrust with certificates that are not used. */
export const CERTIFICATES_DROPPED = 'CertificatesDropped';

/** Maximum number of certificates that the condition names. */
const MAX_NAMED = 5;

/**
 * Writes on each MeshTrust which of its certificates are not used and why: invalid ones among good ones, expired ones, too many
 * (docs/reference/sync.md Conditions). Plans again when the next one expires.
 */
class TrustCertificatesReconciler implements KeyedReconciler {
  readonly name = 'trust-certificates';

  *seed(index: IndexReader): Iterable<Keys> {
    for (const { id } of index.ofKind(MeshTrust.name)) yield [identityKey(id)];
  }

  listKeys({ id, key, after }: IndexChange): Keys {
    return id.kind === MeshTrust.name && after ? [key] : NO_KEYS;
  }

  reconcile(key: ResourceKey, index: IndexReader, now: number): ReconcileResult | undefined {
    const held = index.byIdentityKey(key);
    if (!held) return undefined;
    const before = held.status ?? {};
    const wanted = droppedCondition(held, now);
    const status = wanted ? withCondition(before, wanted, now) : withoutConditions(before, [CERTIFICATES_DROPPED]);
    const ends = certificatesOfTrust(held).usable.flatMap(({ notAfter }) => (notAfter > now ? [notAfter] : []));
    return {
      change: status === before ? undefined : { type: 'patch', id: held.id, expect: held.revision, status },
      ...(ends.length > 0 && { dueAt: Math.min(...ends) }),
    };
  }
}

function droppedCondition(trust: Resource, now: number): Condition | undefined {
  const { usable, dropped } = certificatesOfTrust(trust);
  const ended = usable
    .filter(({ notAfter }) => notAfter <= now)
    .map(({ at, notAfter }) => ({ at, reason: `ended at ${new Date(notAfter).toISOString()}` }));
  const faults = [...dropped, ...ended];
  if (faults.length === 0) return undefined;
  const isNobody = ended.length === usable.length;
  const named = faults.slice(0, MAX_NAMED).map(({ at, reason }) => `${at}: ${reason}`);
  const more = faults.length > named.length ? [`and ${faults.length - named.length} more`] : [];
  const nobody = isNobody ? ['no valid certificate is left: no identity of this trust domain is trusted'] : [];
  const reason = isNobody ? 'NoneLeft' : dropped.length > 0 ? 'Invalid' : 'Ended';
  const message = [...named, ...more, ...nobody].join('; ');
  return { type: CERTIFICATES_DROPPED, status: 'True', reason, message, observedGeneration: trust.generation };
}

/** Creates the status loop of MeshTrusts. */
export function createTrustCertificatesLoop(): KeyedLoop {
  return new KeyedLoop(new TrustCertificatesReconciler());
}
