import { Type, type Static } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { MAX_NAME_LENGTH, MANY, strict } from './schema/schema-parts';

/** Most tokens that one enrolment remembers; older ones have long been replaced. */
export const MAX_ENROLMENT_TOKENS = 16;

const Name = Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH });
const Id = Type.String({ minLength: 1, maxLength: 64 });
const Instant = Type.Integer({ minimum: 0 });

const Spec = Type.Object(
  {
    /** Who granted it: a token that a user issued, the user who wrote the Dataplane, the upgrade, or a certificate after an import. */
    by: Type.Enum(['token', 'dataplane', 'upgrade', 'import']),
    /** The MeshServices that the Dataplane may serve; absent: those that the Dataplane says, which a user has written. */
    services: Type.Optional(Type.Array(Name, { maxItems: MANY })),
    /** The workload that it may be; absent: its own name. */
    workload: Type.Optional(Name),
    /** The tokens that it joined with, the newest last. */
    tokens: Type.Array(Id, { maxItems: MAX_ENROLMENT_TOKENS }),
    /** When the newest of them was issued, ms since 1970. */
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

/** What is granted to a Dataplane. */
export type EnrolmentSpec = Static<typeof Spec>;

/**
 * What a machine may be after it joined: named as its Dataplane, in the same mesh and namespace. Certificates carry its uid, and renewed
 * tokens, leases and policies go by it. Written by control planes only; no sync sends it (docs/reference/enrolments.md).
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
    /** When a leader first saw another incarnation: enrolments may have been lost with a restored store. */
    restoredAt: Type.Optional(Instant),
  },
  strict,
);

/** Since when a zone goes by enrolments: before that, every replica of it did not know them. One a zone. */
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

/** Most enrolments of one Dataplane that may end while certificates of the first are valid. */
export const MAX_ENDED_ENROLMENTS = 32;

const Ended = Type.Object(
  {
    /** The uid of the enrolment: its certificates carry it. */
    enrolment: Id,
    /** When its last certificate has ended, ms since 1970. */
    until: Instant,
  },
  strict,
);

const RevocationSpec = Type.Object(
  {
    /** When the newest of them was revoked, ms since 1970: tokens of before enrol the Dataplane no more. */
    revokedAt: Instant,
    ended: Type.Array(Ended, { maxItems: MAX_ENDED_ENROLMENTS }),
  },
  strict,
);

/**
 * That the certificates of ended enrolments of a Dataplane are believed no longer, in any zone; it is named as the Dataplane, and removed
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
