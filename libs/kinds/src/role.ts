import { Type } from 'typebox';
import { checkName, defineKind, Sync } from '@causeway/resources';
import { NonEmpty, strict } from './schema/schema-parts';
import { KindNames, MeshNames, NamespaceNames } from './schema/access-parts';

/** Verbs that a rule may allow; `*` is all of them. `revoke` ends enrolments of hosts (the kind `Workload`). */
export const verbs = ['get', 'list', 'watch', 'create', 'update', 'delete', 'revoke'] as const;

const Rule = Type.Object(
  {
    verbs: Type.Array(Type.Enum([...verbs, '*']), { minItems: 1, maxItems: 8 }),
    kinds: KindNames,
    meshes: Type.Optional(MeshNames),
    namespaces: Type.Optional(NamespaceNames),
  },
  strict,
);

const Spec = Type.Object(
  { description: Type.Optional(NonEmpty), rules: Type.Array(Rule, { minItems: 1, maxItems: 64 }) },
  { ...strict, examples: [{ rules: [{ verbs: ['get', 'list', 'watch'], kinds: ['MeshService'] }] }] },
);

/** Roles that always exist; no Role may use their names (docs/design.md §6 Roles). */
export const builtInRoles = ['viewer', 'service-owner', 'mesh-operator', 'admin'] as const;

/** Rights that RoleBindings assign to subjects (docs/design.md §6 Roles). */
export const Role = defineKind({
  name: 'Role',
  plural: 'roles',
  shortName: 'role',
  scope: 'global',
  sync: Sync.roles,
  writer: 'admin',
  bounds: { bytes: 64 * 1024 },
  spec: Spec,
  checkName: (name, at) =>
    builtInRoles.some((builtIn) => builtIn === name)
      ? [at.violation(`must not be ${builtInRoles.join(', ')}: these roles always exist; got "${name}"`)]
      : checkName(name, at),
});
