import {
  isJsonObject,
  type Identity,
  type JsonObject,
  type JsonValue,
  type Kind,
  type Registry,
  type Resource,
} from '@causeway/resources';

/** Action of a request. Lists and watches read many resources, `get` one. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'delete' | 'revoke';

/**
 * Target of a request. `kind` is a kind of the registry or one of `activities`. A list without mesh or namespace covers
 * all of them, so it needs a right on all of them.
 */
export interface AccessTarget {
  readonly kind: string;
  readonly mesh?: string | undefined;
  readonly namespace?: string | undefined;
  /** Writer of a kind that the registry does not have yet: the built-in roles cover the kind by it. */
  readonly writer?: Kind['writer'];
}

/** Returns a resource as a target. A Mesh belongs to itself as a mesh, a Namespace to itself as a namespace. */
export function toAccessTarget({ kind, mesh, namespace, name }: Identity): AccessTarget {
  return {
    kind,
    mesh: kind === 'Mesh' ? name : mesh || undefined,
    namespace: kind === 'Namespace' ? name : namespace || undefined,
  };
}

/**
 * User actions besides reading and writing resources, named like kinds, so that roles cover both in one way: `get`
 * reads, `create` acts; for a Workload, `revoke` acts.
 */
export const activities = {
  /** Looking up the rights of other users. */
  AccessReview: 'operator',
  /** The audit log. */
  AuditLog: 'admin',
  /** The configuration of a control plane, without its secrets. */
  Configuration: 'operator',
  /** Tokens of proxies; of one mesh where the role is narrowed to it. */
  DataplaneToken: 'operator',
  /** Faults of a control plane. */
  Diagnosis: 'operator',
  /** Confirming and adopting zones, and other decisions of operators. */
  SyncDecision: 'operator',
  UserToken: 'admin',
  /** Machines that have joined; `revoke` ends their grants. */
  Workload: 'operator',
  /** The certificate authority of a zone's workloads. */
  WorkloadAuthority: 'operator',
  ZoneToken: 'admin',
} as const;

/** A rule of a role: undefined means all. */
export interface Rule {
  readonly verbs: ReadonlySet<string> | undefined;
  readonly kinds: ReadonlySet<string> | undefined;
  /** Writers whose kinds are allowed even if the registry does not have them yet; none if left out. */
  readonly writers?: readonly Kind['writer'][];
  readonly meshes: ReadonlySet<string> | undefined;
  readonly namespaces: ReadonlySet<string> | undefined;
}

/** A role granted by a binding: every rule narrowed by `restriction`. */
export interface Grant {
  /** Name of the binding for users: `RoleBinding payments of zone west`. */
  readonly binding: string;
  readonly role: string;
  readonly rules: readonly Rule[];
  readonly restriction: Rule;
}

const EVERYTHING: Rule = { verbs: undefined, kinds: undefined, meshes: undefined, namespaces: undefined };
const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** Returns the built-in roles, made from the registry: a new kind is covered according to its `writer`. */
export function builtInRules(registry: Registry): ReadonlyMap<string, readonly Rule[]> {
  const writtenBy = (...writers: readonly Kind['writer'][]): Rule => {
    const acts = Object.entries(activities).filter(([, writer]) => writers.includes(writer));
    const kinds = registry.kinds.filter(({ writer }) => writers.includes(writer));
    return {
      ...EVERYTHING,
      kinds: new Set([...kinds.map(({ name }) => name), ...acts.map(([name]) => name)]),
      writers,
    };
  };
  const open = new Set(registry.kinds.filter(({ confidential }) => !confidential).map(({ name }) => name));
  const reads: Rule = { ...EVERYTHING, verbs: READS, kinds: open };
  return new Map([
    ['viewer', [reads]],
    ['service-owner', [writtenBy('owner')]],
    ['mesh-operator', [reads, writtenBy('owner', 'operator')]],
    ['admin', [EVERYTHING]],
  ]);
}

/**
 * Returns the rules of a Role. None reaches what is reserved for the built-in role `admin`. A rule without verbs or
 * kinds allows nothing: it violates the schema.
 */
export function roleRules({ spec }: Resource, registry: Pick<Registry, 'kind'>): readonly Rule[] {
  const rules = Array.isArray(spec['rules']) ? spec['rules'].filter(isJsonObject) : [];
  return rules.map((rule) => ({
    ...narrowing(rule, registry),
    verbs: parseNames(rule['verbs'] ?? []),
    kinds: parseKinds(rule['kinds'] ?? [], registry),
  }));
}

/** Reads the fields of a rule or binding that narrow it. */
export function narrowing({ kinds, meshes, namespaces }: JsonObject, registry: Pick<Registry, 'kind'>): Rule {
  return {
    verbs: undefined,
    kinds: parseKinds(kinds, registry),
    meshes: parseNames(meshes),
    namespaces: parseNames(namespaces),
  };
}

/**
 * Returns the kinds of a list. A name without a group always refers to the same kind; a second kind is named
 * `KIND.GROUP` or `PLURAL.GROUP`.
 */
function parseKinds(list: JsonValue | undefined, registry: Pick<Registry, 'kind'>): ReadonlySet<string> | undefined {
  const names = parseNames(list);
  return names && new Set([...names].map((name) => (name.includes('.') ? (registry.kind(name)?.name ?? name) : name)));
}

/** Returns the names of a list; undefined for all (`*` or absent). A value that is no list has no names. */
function parseNames(list: JsonValue | undefined): ReadonlySet<string> | undefined {
  if (list === undefined || list === null) return undefined;
  if (!Array.isArray(list)) return new Set();
  return list.includes('*') ? undefined : new Set(list.filter((item): item is string => typeof item === 'string'));
}

/** Whether a grant allows it. Linear in the rules of its role. */
export function allows({ rules, restriction }: Grant, verb: Verb, target: AccessTarget): boolean {
  return matches(restriction, verb, target) && rules.some((rule) => matches(rule, verb, target));
}

function matches({ verbs, kinds, writers = [], meshes, namespaces }: Rule, verb: Verb, target: AccessTarget): boolean {
  return (
    (!verbs || verbs.has(verb)) &&
    (!kinds || kinds.has(target.kind) || (target.writer !== undefined && writers.includes(target.writer))) &&
    (!meshes || (target.mesh !== undefined && meshes.has(target.mesh))) &&
    (!namespaces || (target.namespace !== undefined && namespaces.has(target.namespace)))
  );
}
