import { Type, type Static } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { MAX_NAME_LENGTH, strict } from './schema/schema-parts';

const Spec = Type.Object(
  {
    /** `Namespaced`: a MeshIdentity without a path gives `/ns/{{ .Namespace }}/workload/{{ .Workload }}` outside of namespace `default`. */
    preset: Type.Enum(['Namespaced']),
  },
  { ...strict, examples: [{ preset: 'Namespaced' }] },
);

/**
 * Includes the namespace in the SPIFFE ids of a mesh whose MeshIdentity sets no path; the resource may have any name. Created
 * with each new Mesh; for an older mesh the operator creates it, and each zone changes its ids without an outage. It is not a
 * field of MeshParameters, because new meshes have none, and because older versions ignore this kind and keep their ids.
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

/** Maximum number of namespaces in the state of a zone, and of shared ids. */
export const MAX_STATE_NAMESPACES = 1_000;
export const MAX_SHARED_IDS = 100;
const MAX_SHARING = 16;

const Namespaces = Type.Array(Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH }), {
  maxItems: MAX_STATE_NAMESPACES,
});

const Shared = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 2_048 }),
    /** The first 16 namespaces if there are more. */
    namespaces: Type.Array(Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH }), { maxItems: MAX_SHARING }),
  },
  strict,
);

const StateSpec = Type.Object(
  {
    /** Form of the ids for which the zone signs certificates if a MeshIdentity sets no path. */
    signs: Type.Enum(['Workload', 'Namespaced']),
    /**
     * Set while the form changes and both forms are trusted. Announcing: no certificate has the new form yet; Retiring:
     * some certificates of the former form are still valid.
     */
    step: Type.Optional(Type.Enum(['Announcing', 'Retiring'])),
    /** Earliest end of the step, ms since 1970. */
    until: Type.Optional(Type.Integer({ minimum: 0 })),
    /** Set while the form changes: the namespaces with Dataplanes whose ids change, sorted. */
    namespaces: Type.Optional(Namespaces),
    /** SPIFFE ids shared by workloads of several namespaces, sorted. */
    shared: Type.Optional(Type.Array(Shared, { maxItems: MAX_SHARED_IDS })),
  },
  strict,
);

/** State of the SPIFFE ids of a mesh in a zone. */
export type IdentityPathStateSpec = Static<typeof StateSpec>;

/**
 * State of a mesh's SPIFFE ids in one zone: their form while it changes, and the ids that workloads of several namespaces share. Written by
 * the zone's leader only, and synced to Causeway control planes only. Without it ids have no namespace, and no shared id is known.
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

/** Name of the only IdentityPathState of a mesh in a zone. */
export const IDENTITY_PATH_STATE = 'zone';
export const MAX_NAMESPACES_SHARING = MAX_SHARING;
