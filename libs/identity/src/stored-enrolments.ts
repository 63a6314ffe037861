import { Enrolment, ENROLMENT_EPOCH, EnrolmentEpoch, type EnrolmentSpec } from '@causeway/kinds';
import { computedLabels, type ControlPlane, type Identity, type JsonObject, type Resource } from '@causeway/resources';
import type { IndexReader, PutChange } from '@causeway/store';

/** Stored enrolment. */
export type EnrolmentResource = Resource<EnrolmentSpec>;

/** Returns the identity of a Dataplane's enrolment. */
export function enrolmentId({ mesh, zone, namespace, name }: Identity): Identity {
  return { kind: Enrolment.name, mesh, zone, namespace, name };
}

/** Returns the identity of an enrolment's Dataplane. */
export function enrolledDataplane({ mesh, zone, namespace, name }: Identity): Identity {
  return { kind: 'Dataplane', mesh, zone, namespace, name };
}

/** Returns the enrolment of a Dataplane in the index. */
export function findEnrolment(index: Pick<IndexReader, 'get'>, dataplane: Identity): EnrolmentResource | undefined {
  const found = index.get(enrolmentId(dataplane));
  return found && Enrolment.is(found) ? found : undefined;
}

/**
 * Returns whether enrolments are in force in a zone. They are not while replicas of an older version, which create
 * none, may run (`EnrolmentAdoption`).
 */
export function isEnrolmentInForce(index: Pick<IndexReader, 'get'>, zone: string): boolean {
  return index.get(enrolmentEpochId(zone)) !== undefined;
}

/** Returns the identity of a zone's EnrolmentEpoch. */
export function enrolmentEpochId(zone: string): Identity {
  return { kind: EnrolmentEpoch.name, mesh: '', zone, namespace: '', name: ENROLMENT_EPOCH };
}

/** Returns the change that stores an enrolment. */
export function putEnrolment(
  dataplane: Identity,
  spec: EnrolmentSpec,
  { cp, expect }: { readonly cp: ControlPlane; readonly expect: number | 'absent' },
): PutChange {
  const id = enrolmentId(dataplane);
  return { type: 'put', id, expect, labels: computedLabels(Enrolment, id, cp), spec: asJson(spec) };
}

function asJson({ services, tokens, ...rest }: EnrolmentSpec): JsonObject {
  return { ...rest, tokens: [...tokens], ...(services && { services: [...services] }) };
}

/** Credential from before enrolments that a machine still uses. */
export interface OldCredential {
  /** Services for which it stays valid. */
  readonly services: readonly string[];
  /** Command that creates the bundle to replace it. */
  readonly command: string;
}

/**
 * Returns the credential from before enrolments that a machine still uses; undefined if it has joined with a newer one,
 * or if a user wrote the Dataplane, whose machine was never granted services.
 */
export function findOldCredential({ id, spec }: EnrolmentResource): OldCredential | undefined {
  const { by, services } = spec;
  if (by !== 'upgrade' || services === undefined) return undefined;
  const { mesh, namespace, name } = id;
  const place = `--mesh ${mesh}${namespace === 'default' ? '' : ` --namespace ${namespace}`}`;
  const granted = services.length === 0 ? '--no-service' : `--service ${services.join(',')}`;
  return { services, command: `causeway tokens dataplane ${name} ${place} ${granted} --bundle` };
}
