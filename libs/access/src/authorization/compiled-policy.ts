import { createHash } from 'node:crypto';
import { compareOrders, isJsonObject, type ControlPlane, type Registry, type Resource } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import type { Caller } from './caller';
import { narrowing, roleRules, type Grant, type Rule } from './grants';

/** Grants by the key of their subject, as `User:anna`. */
export type Grants = ReadonlyMap<string, readonly Grant[]>;

/** All Roles and RoleBindings of an index, by their subjects. */
export interface CompiledPolicy {
  /** Granting bindings. */
  readonly grants: Grants;
  /** In a federated zone the grants of its own bindings: the upper limit of what their subjects may do. */
  readonly limits: Grants;
  /** The digest of its grants, by each zone that a binding names. */
  readonly zones: ReadonlyMap<string, string>;
}

const SUBJECTS: readonly string[] = ['User', 'Group', 'Zone'];

/** Compiles the bindings of an index. Linear in Roles and RoleBindings. */
export function compilePolicy(
  { index, cp, registry }: { readonly index: IndexReader; readonly cp: ControlPlane; readonly registry: Registry },
  builtIn: ReadonlyMap<string, readonly Rule[]>,
): CompiledPolicy {
  const own = new Map([...index.ofKind('Role')].map((role) => [`${role.id.zone}/${role.id.name}`, role]));
  const listRules = (zone: string, role: string): readonly Rule[] => {
    // A binding whose role does not exist grants nothing. A zone's binding refers to the zone's Role before the
    // global's.
    const found = own.get(`${zone}/${role}`) ?? own.get(`/${role}`);
    return builtIn.get(role) ?? (found ? roleRules(found, registry) : []);
  };
  const grants = new Map<string, Grant[]>();
  const limits = new Map<string, Grant[]>();
  for (const binding of [...index.ofKind('RoleBinding')].sort((a, b) =>
    compareOrders(a.creationOrder, b.creationOrder),
  )) {
    const { id, spec } = binding;
    const role = getRoleName(binding);
    const where = id.zone === '' ? '' : ` of zone ${id.zone}`;
    const grant = {
      binding: `RoleBinding ${id.name}${where}`,
      role,
      rules: listRules(id.zone, role),
      restriction: narrowing(spec, registry),
    };
    const restricts = cp.role === 'zone' && cp.federated && id.zone !== '';
    for (const key of boundSubjects(binding)) add(restricts ? limits : grants, key, grant);
  }
  return { grants, limits, zones: zoneDigests(grants) };
}

function add(into: Map<string, Grant[]>, key: string, grant: Grant): void {
  const given = into.get(key);
  if (given) given.push(grant);
  else into.set(key, [grant]);
}

function zoneDigests(grants: Grants): ReadonlyMap<string, string> {
  const prefix = subjectKey('Zone', '');
  const named = [...grants].filter(([key]) => key.startsWith(prefix));
  return new Map(named.map(([key, given]) => [key.slice(prefix.length), computeDigest(given)]));
}

/** Equal for grants that allow the same by the same rules, regardless of the names of their bindings. */
function computeDigest(grants: readonly Grant[]): string {
  const listed = (_: string, value: unknown): unknown => (value instanceof Set ? [...value].sort() : value);
  const text = JSON.stringify(
    grants.map(({ role, rules, restriction }) => [role, rules, restriction]),
    listed,
  );
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

/** Returns the key of a subject of bindings. */
export function subjectKey(kind: 'User' | 'Group' | 'Zone', name: string): string {
  return `${kind}:${name}`;
}

/** Returns the keys of the subjects of a caller: the user itself and its groups. */
export function subjectKeys({ user, groups }: Caller): readonly string[] {
  return [subjectKey('User', user), ...groups.map((group) => subjectKey('Group', group))];
}

/**
 * Returns the subjects whose rights may be affected by changes. A change of a Role affects the subjects of every
 * binding that names it.
 */
export function affectedSubjects(changes: readonly IndexChange[], index: IndexReader): ReadonlySet<string> {
  const bindings = changes
    .filter(({ id }) => id.kind === 'RoleBinding')
    .flatMap(({ before, after }) => [before, after]);
  const roles = new Set(changes.filter(({ id }) => id.kind === 'Role').map(({ id }) => id.name));
  const naming = roles.size === 0 ? [] : [...index.ofKind('RoleBinding')].filter((one) => roles.has(getRoleName(one)));
  return new Set([...bindings, ...naming].flatMap((binding) => (binding ? boundSubjects(binding) : [])));
}

function getRoleName({ spec }: Resource): string {
  return typeof spec['role'] === 'string' ? spec['role'] : '';
}

function boundSubjects({ spec }: Resource): readonly string[] {
  const subjects = Array.isArray(spec['subjects']) ? spec['subjects'].filter(isJsonObject) : [];
  return subjects.flatMap(({ kind, name }) =>
    typeof name === 'string' && typeof kind === 'string' && SUBJECTS.includes(kind) ? [`${kind}:${name}`] : [],
  );
}
