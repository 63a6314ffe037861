import { Type, type Static } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { MAX_NAME_LENGTH, MAX_ITEMS, strict } from './schema/schema-parts';

/** Maximum number of tokens that one enrolment records; older ones were replaced long ago. */
export const MAX_ENROLMENT_TOKENS = 16;

const Name = Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH });
const Id = Type.String({ minLength: 1, maxLength: 64 });
const Instant = Type.Integer({ minimum: 0 });

const Spec = Type.Object(
  {
    /**
     * Origin of the enrolment: a token issued by a user, the Dataplane's author, the upgrade, or a certificate after an
     * import.
     */
    by: Type.Enum(['token', 'dataplane', 'upgrade', 'import']),
    /** MeshServices that the Dataplane may serve; absent: those in the Dataplane, which a user wrote. */
    services: Type.Optional(Type.Array(Name, { maxItems: MAX_ITEMS })),
    /** Workload name that the Dataplane may use; absent: its own name. */
    workload: Type.Optional(Name),
    /** Ids of the tokens with which it joined, the newest last. */
    tokens: Type.Array(Id, { maxItems: MAX_ENROLMENT_TOKENS }),
    /** Time at which the newest token was issued, ms since 1970. */
    issuedAt: Instant,
    /** Id of the group token with which it joined, if the token was issued for a group of hosts. */
    group: Type.Optional(Id),
    /** After an import: the uid in its earlier certificates. */
    formerly: Type.Optional(Id),
    /** After an import: expiry unless an operator confirms the enrolment, ms since 1970. */
    confirmBefore: Type.Optional(Instant),
  },
  strict,
);

/** Spec of an Enrolment. */
export type EnrolmentSpec = Static<typeof Spec>;

/**
 * Rights of a host after it joined; has the name, mesh and namespace of its Dataplane. Its uid is in certificates;
 * renewed tokens, leases and policies depend on it. Written by control planes only; never synced
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
    /** Set while older Dataplanes may lack an enrolment: a leader continues to enrol them. */
    adopting: Type.Optional(Type.Literal(true)),
    /** Incarnation of the store when a leader last checked it. */
    incarnation: Type.Optional(Id),
    /** Time at which a leader first saw a new incarnation, ms since 1970: enrolments may have been lost with a restored store. */
    restoredAt: Type.Optional(Instant),
  },
  strict,
);

/** Time since which a zone uses enrolments: before that, some replicas did not support them. One per zone. */
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

/** Name of the only EnrolmentEpoch of a zone. */
export const ENROLMENT_EPOCH = 'zone';

/** Maximum number of enrolments of one Dataplane that may end while certificates of the first are valid. */
export const MAX_ENDED_ENROLMENTS = 32;

const Ended = Type.Object(
  {
    /** Uid of the enrolment, which its certificates contain. */
    enrolment: Id,
    /** Expiry of its last certificate, ms since 1970. */
    until: Instant,
  },
  strict,
);

const RevocationSpec = Type.Object(
  {
    /** Time of the newest revocation, ms since 1970: tokens issued earlier no longer enrol the Dataplane. */
    revokedAt: Instant,
    ended: Type.Array(Ended, { maxItems: MAX_ENDED_ENROLMENTS }),
  },
  strict,
);

/**
 * Revokes the certificates of a Dataplane's ended enrolments in every zone. Has the name of the Dataplane; removed when the last
 * certificate has expired. Written by `causeway workloads revoke` only, and synced to Causeway control planes only.
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
