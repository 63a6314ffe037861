import { Type } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { NonEmpty, strict } from './schema/schema-parts';
import { KindNames, MeshNames, NamespaceNames } from './schema/access-parts';

const Subject = Type.Object({ kind: Type.Enum(['User', 'Group', 'Zone']), name: NonEmpty }, strict);

const Spec = Type.Object(
  {
    role: NonEmpty,
    subjects: Type.Array(Subject, { minItems: 1, maxItems: 1_024 }),
    /** Each of these fields restricts the role; absent means no restriction. */
    kinds: Type.Optional(KindNames),
    meshes: Type.Optional(MeshNames),
    namespaces: Type.Optional(NamespaceNames),
  },
  { ...strict, examples: [{ role: 'viewer', subjects: [{ kind: 'Group', name: 'developers' }] }] },
);

/**
 * Assigns a role to users, groups and zones. A zone's own binding in a federated zone grants nothing: it restricts its
 * subjects (docs/design.md §6 Roles).
 */
export const RoleBinding = defineKind({
  name: 'RoleBinding',
  plural: 'rolebindings',
  shortName: 'rb',
  scope: 'global',
  sync: Sync.roles,
  writer: 'admin',
  bounds: { bytes: 256 * 1024 },
  spec: Spec,
  warn: ({ spec }) =>
    spec.role === 'service-owner' && spec.namespaces === undefined
      ? ['spec.namespaces: is absent, so the subjects own the services of every namespace']
      : [],
});
