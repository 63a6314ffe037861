import { Type, type Static } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { MAX_NAME_LENGTH, MANY, strict } from './schema/schema-parts';

/** Maximum number of tokens that one enrolment remembers; older ones have long been replaced. */
export const MAX_ENROLMENT_TOKENS = 16;

const Name = Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH });
const Id = Type.String({ minLength: 1, maxLength: 64 });
const Instant = Type.Integer({ minimum: 0 });

const Spec = Type.Object(
  {
    /**
     * Origin of the enrolment: a token that a user issued, the user who wrote the Dataplane, the upgrade, or a
     * certificate after an import.
     */
    by: Type.Enum(['token', 'dataplane', 'upgrade', 'import']),
    /** The MeshServices that the Dataplane may serve; absent: those that the Dataplane says, which a user has written. */
    services: Type.Optional(Type.Array(Name, { maxItems: MANY })),
    /** The workload that it may be; absent: its own name. */
    workload: Type.Optional(Name),
    /** The tokens that it joined with, the newest last. */
    tokens: Type.Array(Id, { maxItems: MAX_ENROLMENT_TOKENS }),
    /** Time at which the newest of them was issued, ms since 1970. */
    issuedAt: Instant,
    /** The token of a group of machines that it is one of. */
    group: Type.Optional(Id),
    /** After an import: the uid in its certificates of before. */
    formerly: Type.Optional(Id),
    /** After an import: until when it stands unless an operator confirms it, ms since 1970. */
    confirmBefore: Type.Optional(Instant),
  },
  strict,
);

/** Grant of a Dataplane. */
export type EnrolmentSpec = Static<typeof Spec>;

/**
 * Rights of a machine after it joined: named as its Dataplane, in the same mesh and namespace. Certificates carry its
 * uid, and renewed tokens, leases and policies depend on it. Written by control planes only; never synced
 * (docs/reference/enrolments.md).
 */
export const Enrolment = defineKind({
  name: 'Enrolment',
  plural: 'enrolments',
  shortName: 'enrolment',
  apiVersion: 'causeway.io/v1alpha1',
  scope: 'mesh',
  namespaced: true,
  sync: Sync.local,
  writer: 'admin',
  bounds: { bytes: 64 * 1024 },
  spec: Spec,
});

const EpochSpec = Type.Object(
  {
    since: Instant,
    /** Dataplanes of before may still have no enrolment: a leader goes on to enrol them. */
    adopting: Type.Optional(Type.Literal(true)),
    /** The incarnation of the store at the last look of a leader. */
    incarnation: Type.Optional(Id),
    /** Time at which a leader first saw another incarnation: enrolments may have been lost with a restored store. */
    restoredAt: Type.Optional(Instant),
  },
  strict,
);

/** Time since which a zone uses enrolments: before that, not every replica knew them. One a zone. */
export const EnrolmentEpoch = defineKind({
  name: 'EnrolmentEpoch',
  plural: 'enrolmentepochs',
  shortName: 'enrolmentepoch',
  apiVersion: 'causeway.io/v1alpha1',
  scope: 'global',
  sync: Sync.local,
  writer: 'admin',
  bounds: { bytes: 1_024 },
  spec: EpochSpec,
});

/** The name of the one EnrolmentEpoch of a zone. */
export const ENROLMENT_EPOCH = 'zone';

/** Maximum number of enrolments of one Dataplane that may end while certificates of the first are valid. */
export const MAX_ENDED_ENROLMENTS = 32;

const Ended = Type.Object(
  {
    /** The uid of the enrolment: its certificates carry it. */
    enrolment: Id,
    /** End of its last certificate, ms since 1970. */
    until: Instant,
  },
  strict,
);

const RevocationSpec = Type.Object(
  {
    /** Time at which the newest of them was revoked, ms since 1970: earlier tokens no longer enrol the Dataplane. */
    revokedAt: Instant,
    ended: Type.Array(Ended, { maxItems: MAX_ENDED_ENROLMENTS }),
  },
  strict,
);

/**
 * Revokes the certificates of ended enrolments of a Dataplane in every zone; it is named as the Dataplane, and removed
 * when the last certificate has ended. Written by `causeway workloads revoke` only, and sent to control planes of ours.
 */
export const WorkloadRevocation = defineKind({
  name: 'WorkloadRevocation',
  plural: 'workloadrevocations',
  shortName: 'wrevocation',
  apiVersion: 'causeway.io/v1alpha1',
  scope: 'mesh',
  namespaced: true,
  sync: Sync.revocations,
  writer: 'admin',
  bounds: { bytes: 8 * 1024 },
  spec: RevocationSpec,
});
