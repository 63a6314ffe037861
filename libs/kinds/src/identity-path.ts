import { Type, type Static } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { MAX_NAME_LENGTH, strict } from './schema/schema-parts';

const Spec = Type.Object(
  {
    /** Namespaced: outside of namespace `default` a MeshIdentity without a path gives `/ns/{{ .Namespace }}/workload/{{ .Workload }}`. */
    preset: Type.Enum(['Namespaced']),
  },
  { ...strict, examples: [{ preset: 'Namespaced' }] },
);

/**
 * That the SPIFFE ids of a mesh have the namespace in their path, where its MeshIdentity names no path; one of any name says it. It is made
 * with each new Mesh; in an older mesh its operator writes it, and each zone changes its ids without an outage. A kind of its own and
 * no field of MeshParameters: new meshes have none of those, and a version which does not know it goes on with the ids that it gives.
 */
export const IdentityPath = defineKind({
  name: 'IdentityPath',
  plural: 'identitypaths',
  shortName: 'idpath',
  apiVersion: 'causeway.io/v1alpha1',
  scope: 'mesh',
  sync: Sync.settings,
  writer: 'operator',
  spec: Spec,
});

/** Maximum number of namespaces, and of shared ids, that the state of a zone names. */
export const MAX_STATE_NAMESPACES = 1_000;
export const MAX_SHARED_IDS = 100;
const MAX_SHARING = 16;

const Namespaces = Type.Array(Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH }), {
  maxItems: MAX_STATE_NAMESPACES,
});

const Shared = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 2_048 }),
    /** Of more than 16 the first. */
    namespaces: Type.Array(Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH }), { maxItems: MAX_SHARING }),
  },
  strict,
);

const StateSpec = Type.Object(
  {
    /** The form of the ids that certificates of the zone are signed for, where a MeshIdentity names no path. */
    signs: Type.Enum(['Workload', 'Namespaced']),
    /**
     * While the form changes both are trusted. Announcing: no certificate is signed for the other form yet; Retiring:
     * some certificates for the former form are still valid.
     */
    step: Type.Optional(Type.Enum(['Announcing', 'Retiring'])),
    /** Earliest end of the step, ms since 1970. */
    until: Type.Optional(Type.Integer({ minimum: 0 })),
    /** While the form changes: the namespaces with Dataplanes whose ids change, sorted. */
    namespaces: Type.Optional(Namespaces),
    /** SPIFFE ids that workloads of several namespaces have, sorted. */
    shared: Type.Optional(Type.Array(Shared, { maxItems: MAX_SHARED_IDS })),
  },
  strict,
);

/** State of the SPIFFE ids of a mesh in a zone. */
export type IdentityPathStateSpec = Static<typeof StateSpec>;

/**
 * Which SPIFFE ids the workloads of a zone have in one mesh while that changes, and which ids workloads of several namespaces share. Written
 * by the leader of the zone only, and sent to control planes of ours. Without one the ids have no namespace and none is known to be shared.
 */
export const IdentityPathState = defineKind({
  name: 'IdentityPathState',
  plural: 'identitypathstates',
  shortName: 'idpathstate',
  apiVersion: 'causeway.io/v1alpha1',
  scope: 'mesh',
  sync: Sync.revocations,
  writer: 'admin',
  bounds: { bytes: 1024 * 1024 },
  spec: StateSpec,
});

/** The name of the one IdentityPathState of a mesh in a zone. */
export const IDENTITY_PATH_STATE = 'zone';
export const MAX_NAMESPACES_SHARING = MAX_SHARING;
