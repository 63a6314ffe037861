import { isJsonObject, type ControlPlane, type Registry, type Resource } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import { ADMINS, type Caller } from './caller';
import {
  activities,
  allows,
  builtInRules,
  narrowing,
  roleRules,
  type AccessTarget,
  type Grant,
  type Rule,
  type Verb,
} from './grants';

/** Yes or no, and by which binding. */
export interface AccessDecision {
  readonly allowed: boolean;
  /** The binding that decided: the one that allows it, or the zone's own that restricts the caller. */
  readonly binding?: string;
  readonly role?: string;
  /** A sentence for people. */
  readonly reason: string;
}

/** What the policy is made of. */
export interface AccessPolicySources {
  readonly registry: Registry;
  readonly index: IndexReader;
  readonly cp: ControlPlane;
}

/** Grants by what they are given to, as `User:anna`. */
type Grants = ReadonlyMap<string, readonly Grant[]>;

interface CompiledPolicy {
  /** What is granted. */
  readonly grants: Grants;
  /** In a federated zone its own bindings: their subjects may do no more than these allow. */
  readonly limits: Grants;
}

const SUBJECTS: readonly string[] = ['User', 'Group', 'Zone'];
const BUILT_IN_BINDING = 'the binding that always exists';

/**
 * Who may do what, by the Roles and RoleBindings that the index holds (docs/design.md §6 Roles). The global and a zone by
 * itself grant by their own bindings. In a federated zone the global's bindings grant and the zone's own restrict; the copies
 * of the last session hold while the global is away. Members of `causeway:admins` may do everything everywhere.
 */
export class AccessPolicy {
  private compiled: CompiledPolicy | undefined;
  private readonly builtIn: ReadonlyMap<string, readonly Rule[]>;
  private readonly reserved: ReadonlySet<string>;
  private readonly unsubscribe: () => void;

  constructor(private readonly sources: AccessPolicySources) {
    const { registry, index } = sources;
    this.builtIn = builtInRules(registry);
    this.reserved = reservedForAdmins(registry);
    this.unsubscribe = index.subscribe(({ reloaded, changes }) => {
      if (reloaded || changes.some(({ id }) => id.kind === 'Role' || id.kind === 'RoleBinding'))
        this.compiled = undefined;
    });
  }

  /** Decides. Costs the bindings of the caller and of its groups. */
  decide(caller: Caller, verb: Verb, target: AccessTarget): AccessDecision {
    if (caller.groups.includes(ADMINS))
      return { allowed: true, binding: BUILT_IN_BINDING, role: 'admin', reason: `${ADMINS} are administrators` };
    return this.decideFor(keysOf(caller), verb, target, `user "${caller.user}"`);
  }

  /** Whether any binding names the caller or one of its groups. */
  hasGrants(caller: Caller): boolean {
    const { grants } = this.policy();
    return caller.groups.includes(ADMINS) || keysOf(caller).some((key) => grants.has(key));
  }

  /**
   * Whether the global takes resources of a kind from a zone. A zone that no binding names may send every kind that zones
   * send.
   */
  decideZone(zone: string, target: AccessTarget): AccessDecision {
    const key = `Zone:${zone}`;
    if (!this.policy().grants.has(key)) return { allowed: true, reason: `no RoleBinding names zone "${zone}"` };
    return this.decideFor([key], 'create', target, `zone "${zone}"`);
  }

  close(): void {
    this.unsubscribe();
  }

  private decideFor(keys: readonly string[], verb: Verb, target: AccessTarget, who: string): AccessDecision {
    const { grants, limits } = this.policy();
    const granted = keys.flatMap((key) => grants.get(key) ?? []);
    const grant = granted.find((one) => this.reaches(one, verb, target) && allows(one, verb, target));
    if (!grant) return { allowed: false, reason: `no RoleBinding lets ${who} ${verb} ${described(target)}` };
    const limiting = keys.flatMap((key) => limits.get(key) ?? []);
    const [limit] = limiting;
    if (!limit || limiting.some((one) => this.reaches(one, verb, target) && allows(one, verb, target)))
      return {
        allowed: true,
        binding: grant.binding,
        role: grant.role,
        reason: `${grant.binding} gives ${grant.role}`,
      };
    const reason = `${limit.binding} restricts ${who} to ${limit.role}; ${grant.binding} would allow it`;
    return { allowed: false, binding: limit.binding, role: limit.role, reason };
  }

  /** What is left to administrators is reached by their role only, whatever a Role says. */
  private reaches({ role, rules }: Grant, verb: Verb, { kind }: AccessTarget): boolean {
    const isAdmin = role === 'admin' && rules === this.builtIn.get('admin');
    if (isAdmin || !this.reserved.has(kind)) return true;
    const read = verb === 'get' || verb === 'list' || verb === 'watch';
    return read && this.sources.registry.kind(kind)?.confidential === false;
  }

  private policy(): CompiledPolicy {
    this.compiled ??= this.compile();
    return this.compiled;
  }

  private compile(): CompiledPolicy {
    const { index, cp } = this.sources;
    const roles = new Map([...index.ofKind('Role')].map((role) => [`${role.id.zone}/${role.id.name}`, role]));
    const grants = new Map<string, Grant[]>();
    const limits = new Map<string, Grant[]>();
    const restricts = (binding: Resource): boolean => cp.role === 'zone' && cp.federated && binding.id.zone !== '';
    for (const binding of [...index.ofKind('RoleBinding')].sort((a, b) => a.creationOrder - b.creationOrder)) {
      const grant = this.grantOf(binding, roles);
      const into = restricts(binding) ? limits : grants;
      for (const key of subjectsOf(binding)) {
        const given = into.get(key);
        if (given) given.push(grant);
        else into.set(key, [grant]);
      }
    }
    return { grants, limits };
  }

  /** A binding whose role does not exist gives nothing. A zone's binding means the zone's Role before the global's. */
  private grantOf({ id, spec }: Resource, roles: ReadonlyMap<string, Resource>): Grant {
    const role = typeof spec['role'] === 'string' ? spec['role'] : '';
    const found = roles.get(`${id.zone}/${role}`) ?? roles.get(`/${role}`);
    const rules = this.builtIn.get(role) ?? (found ? roleRules(found) : []);
    const where = id.zone === '' ? '' : ` of zone ${id.zone}`;
    return { binding: `RoleBinding ${id.name}${where}`, role, rules, within: narrowing(spec) };
  }
}

/** Confidential kinds, and the kinds and activities of administrators. */
function reservedForAdmins(registry: Registry): ReadonlySet<string> {
  const kinds = registry.kinds.filter(({ confidential, writer }) => confidential || writer === 'admin');
  const acts = Object.entries(activities).filter(([, writer]) => writer === 'admin');
  return new Set([...kinds.map(({ name }) => name), ...acts.map(([name]) => name)]);
}

function keysOf({ user, groups }: Caller): readonly string[] {
  return [`User:${user}`, ...groups.map((group) => `Group:${group}`)];
}

function subjectsOf({ spec }: Resource): readonly string[] {
  const subjects = Array.isArray(spec['subjects']) ? spec['subjects'].filter(isJsonObject) : [];
  return subjects.flatMap(({ kind, name }) =>
    typeof name === 'string' && typeof kind === 'string' && SUBJECTS.includes(kind) ? [`${kind}:${name}`] : [],
  );
}

function described({ kind, mesh, namespace }: AccessTarget): string {
  const place = [
    ...(namespace === undefined ? [] : [`namespace "${namespace}"`]),
    ...(mesh === undefined ? [] : [`mesh "${mesh}"`]),
  ].join(' of ');
  return place === '' ? kind : `${kind} in ${place}`;
}
