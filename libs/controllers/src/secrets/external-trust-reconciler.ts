import { MeshExternalService, readExternalTrust, Secret, secretReferences, unreadableTrust } from '@causeway/kinds';
import {
  identityKey,
  isMadeHere,
  ownZone,
  withCondition,
  withoutConditions,
  type Condition,
  type ControlPlane,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import { KeyedLoop, NO_KEYS, RESCAN, type KeyedReconciler, type Keys, type ReconcileResult } from '@causeway/loops';
import { CERTIFICATES_DROPPED } from '../trust/trust-certificates-reconciler';
import { KEPT_CLIENT_KEY, SecretAccess } from './secret-access';

/** `False`: a Secret, a certificate or a form of the service's trust cannot be used, so nothing is served (Gateway API's type). */
const RESOLVED = 'ResolvedRefs';
/** The condition that clients have the key of the client certificate, as before the upgrade. */
const KEY_AT_CLIENTS = 'ClientKeyAtClients';
const TYPES: readonly string[] = [RESOLVED, CERTIFICATES_DROPPED, KEY_AT_CLIENTS];

/** A condition without the fields of its resource. */
type ConditionParts = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/**
 * Writes on each MeshExternalService why it is not served: its trust has an unknown form, a Secret does not list it, a source contains no
 * certificate, or its client key needs an egress (docs/guides/external-services.md). On the global for the services that were made there.
 */
class ExternalTrustReconciler implements KeyedReconciler {
  readonly name = 'external-trust';

  constructor(private readonly cp: ControlPlane) {}

  *seed(index: IndexReader): Iterable<Keys> {
    for (const { id } of index.ofKind(MeshExternalService.name)) yield [identityKey(id)];
  }

  listKeys({ id, key, after }: IndexChange): readonly (ResourceKey | typeof RESCAN)[] {
    if (id.kind === MeshExternalService.name) return after ? [key] : NO_KEYS;
    return id.kind === Secret.name || id.kind === 'ZoneEgress' ? [RESCAN] : NO_KEYS;
  }

  reconcile(key: ResourceKey, index: IndexReader, now: number): ReconcileResult | undefined {
    const service = index.byIdentityKey(key);
    if (!service || (this.cp.role === 'global' && !isMadeHere(service, this.cp))) return undefined;
    const { id, revision, generation: observedGeneration, status: before = {} } = service;
    const conditions = this.listConditions(service, index);
    const ended = TYPES.filter((type) => !conditions.some((each) => each.type === type));
    const status = conditions.reduce(
      (written, each) => withCondition(written, { ...each, observedGeneration }, now),
      withoutConditions(before, ended),
    );
    return { change: status === before ? undefined : { type: 'patch', id, expect: revision, status } };
  }

  private listConditions(service: Resource, index: IndexReader): readonly ConditionParts[] {
    const { id, spec, status } = service;
    const unreadable = unreadableTrust(spec);
    if (unreadable)
      return [
        unresolved(
          'UnknownForm',
          `${unreadable.field} ${unreadable.reason}: nothing is served, and it is not sent to peers that could read it differently`,
        ),
      ];
    const { secret } = new SecretAccess(index, ownZone(this.cp), () => true).of(service);
    const trust = readExternalTrust(spec, secret);
    if (trust.type === 'plain') return [];
    const missing = secretReferences(id.kind, spec).flatMap(({ field, secret: name }) => {
      const answer = secret(name);
      return answer.ok ? [] : [`${field}: ${answer.reason}`];
    });
    if (missing.length > 0)
      return [unresolved('RefNotPermitted', `${missing.join('; ')}: nothing that needs it is served`)];
    if (trust.type === 'problem') return [unresolved('InvalidCertificateRef', `${trust.field} ${trust.reason}`)];
    const dropped = trust.dropped.map(({ field, reason }) => `${field}: ${reason}`).join('; ');
    return [
      ...(dropped === ''
        ? []
        : [{ type: CERTIFICATES_DROPPED, status: 'True', reason: 'Invalid', message: dropped } as const]),
      ...(trust.clientKey === undefined ? [] : this.ofClientKey(trust.clientKey, index, status)),
    ];
  }

  private ofClientKey(source: string, index: IndexReader, status: Resource['status']): readonly ConditionParts[] {
    const { cp } = this;
    if (cp.role === 'global' || [...index.ofKind('ZoneEgress')].some(({ id }) => id.zone === cp.zone)) return [];
    const rule = 'a private key is given to egresses only';
    if (status?.[KEPT_CLIENT_KEY] !== source)
      return [
        unresolved('ClientKeyNeedsEgress', `spec.tls.verification.clientKey needs a ZoneEgress in this zone: ${rule}`),
      ];
    const message = `every client still gets its key, as before the upgrade; the next version ends that: ${rule}, so start one in this zone`;
    return [{ type: KEY_AT_CLIENTS, status: 'True', reason: 'Kept', message }];
  }
}

function unresolved(reason: string, message: string): ConditionParts {
  return { type: RESOLVED, status: 'False', reason, message };
}

/** Creates the status loop of MeshExternalServices. */
export function createExternalTrustLoop(cp: ControlPlane): KeyedLoop {
  return new KeyedLoop(new ExternalTrustReconciler(cp));
}
