import { createHash } from 'node:crypto';
import { isJsonObject, type ControlPlane, type Identity, type Registry, type Resource } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import { AccessDenied } from './access-denied';
import { ADMINS, type Caller } from './caller';
import {
  activities,
  allows,
  builtInRules,
  narrowing,
  roleRules,
  targetOf,
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

/** A role that a binding gives somebody, or restricts somebody to. */
export interface HeldRole {
  readonly role: string;
  readonly binding: string;
  readonly effect: 'grants' | 'restricts';
}

/** What the policy is made of. */
export interface AccessPolicySources {
  readonly registry: Registry;
  readonly index: IndexReader;
  readonly cp: ControlPlane;
}

/** Grants by what they are given to, as `User:anna`. */
type Grants = ReadonlyMap<string, readonly Grant[]>;

/** Whom a decision is about. */
interface Subject {
  readonly keys: readonly string[];
  /** For messages. */
  readonly who: string;
}

interface CompiledPolicy {
  /** What is granted. */
  readonly grants: Grants;
  /** In a federated zone its own bindings: their subjects may do no more than these allow. */
  readonly limits: Grants;
  /** By zone that a binding names, the digest of its grants. */
  readonly zones: ReadonlyMap<string, string>;
}

type ZonesListener = (zones: readonly string[]) => void;

const SUBJECTS: readonly string[] = ['User', 'Group', 'Zone'];
const BUILT_IN = { binding: 'the binding that always exists', role: 'admin' } as const;
const ADMINISTRATORS: AccessDecision = Object.freeze({
  allowed: true,
  ...BUILT_IN,
  reason: `${ADMINS} are administrators`,
});

/**
 * Who may do what, by the Roles and RoleBindings that the index holds (docs/design.md §6 Roles). The global and a zone by
 * itself grant by their own bindings. In a federated zone the global's bindings grant and the zone's own restrict; the copies
 * of the last session hold while the global is away. Members of `causeway:admins` may do everything everywhere.
 */
export class AccessPolicy {
  private compiled: CompiledPolicy | undefined;
  private readonly builtIn: ReadonlyMap<string, readonly Rule[]>;
  private readonly reserved: ReadonlySet<string>;
  private readonly listeners = new Set<ZonesListener>();
  private readonly unsubscribe: () => void;

  constructor(private readonly sources: AccessPolicySources) {
    const { registry, index } = sources;
    this.builtIn = builtInRules(registry);
    this.reserved = reservedForAdmins(registry);
    this.unsubscribe = index.subscribe(({ reloaded, changes }) => {
      if (reloaded || changes.some(({ id }) => id.kind === 'Role' || id.kind === 'RoleBinding')) this.renew();
    });
  }

  /** Decides. Costs the bindings of the caller and of its groups. */
  decide(caller: Caller, verb: Verb, target: AccessTarget): AccessDecision {
    return this.decideAny(caller, [verb], target);
  }

  /** Whether the caller may do at least one of `verbs` to the resource. */
  may(caller: Caller, verbs: readonly Verb[], id: Identity): boolean {
    return this.decideAny(caller, verbs, targetOf(id)).allowed;
  }

  /**
   * Throws AccessDenied unless the caller may do at least one of `verbs` to the resource. The message names caller, verbs,
   * kind and place, never whether the resource exists.
   */
  authorise(caller: Caller, verbs: readonly Verb[], id: Identity): void {
    const { allowed, reason } = this.decideAny(caller, verbs, targetOf(id));
    if (!allowed) throw new AccessDenied(caller, reason);
  }

  /** The roles of the caller by the bindings that name it or one of its groups; those that grant first. */
  rolesOf(caller: Caller): readonly HeldRole[] {
    if (caller.groups.includes(ADMINS)) return [{ ...BUILT_IN, effect: 'grants' }];
    const { grants, limits } = this.policy();
    const held = (from: Grants, effect: HeldRole['effect']): HeldRole[] =>
      [...new Set(keysOf(caller).flatMap((key) => from.get(key) ?? []))].map(({ role, binding }) => ({
        ...{ role, binding, effect },
      }));
    return [...held(grants, 'grants'), ...held(limits, 'restricts')];
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
    const key = zoneKey(zone);
    if (!this.policy().grants.has(key)) return { allowed: true, reason: `no RoleBinding names zone "${zone}"` };
    const decision = this.decideFor({ keys: [key], who: `zone "${zone}"` }, ['create'], target);
    if (decision.allowed) return decision;
    return { allowed: false, reason: `no RoleBinding lets zone "${zone}" send ${described(target)}` };
  }

  /** A short hash of what a zone may send; empty for a zone that no binding names. */
  zoneDigest(zone: string): string {
    return this.policy().zones.get(zone) ?? '';
  }

  /** Calls `listener` with the zones that may send something else than before, until the returned function is called. */
  onZonesChanged(listener: ZonesListener): () => void {
    this.policy();
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  close(): void {
    this.unsubscribe();
  }

  private renew(): void {
    const before = this.compiled;
    this.compiled = undefined;
    if (this.listeners.size === 0 || !before) return;
    const after = this.policy().zones;
    const named = new Set([...before.zones.keys(), ...after.keys()]);
    const zones = [...named].filter((zone) => before.zones.get(zone) !== after.get(zone));
    if (zones.length > 0) for (const listener of this.listeners) listener(zones);
  }

  private decideAny(caller: Caller, verbs: readonly Verb[], target: AccessTarget): AccessDecision {
    if (caller.groups.includes(ADMINS)) return ADMINISTRATORS;
    return this.decideFor({ keys: keysOf(caller), who: `user "${caller.user}"` }, verbs, target);
  }

  /** Whether at least one of `verbs` is allowed. */
  private decideFor({ keys, who }: Subject, verbs: readonly Verb[], target: AccessTarget): AccessDecision {
    const { grants, limits } = this.policy();
    const granted = keys.flatMap((key) => grants.get(key) ?? []);
    const limiting = keys.flatMap((key) => limits.get(key) ?? []);
    let restricted: Grant | undefined;
    for (const verb of verbs) {
      const isAllowing = (one: Grant): boolean => this.reaches(one, verb, target) && allows(one, verb, target);
      const grant = granted.find(isAllowing);
      if (!grant) continue;
      const { binding, role } = grant;
      if (limiting.length === 0 || limiting.some(isAllowing))
        return { allowed: true, binding, role, reason: `${binding} gives ${role}` };
      restricted ??= grant;
    }
    const what = `${verbs.join(' or ')} ${described(target)}`;
    const [limit] = limiting;
    if (!restricted || !limit) return { allowed: false, reason: `no RoleBinding lets ${who} ${what}` };
    const reason = `${who} may not ${what}: ${limit.binding} restricts it to ${limit.role}; ${restricted.binding} would allow it`;
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
    const zones = [...grants].flatMap(([key, given]): [string, string][] =>
      key.startsWith(zoneKey('')) ? [[key.slice(zoneKey('').length), digestOf(given)]] : [],
    );
    return { grants, limits, zones: new Map(zones) };
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

function zoneKey(zone: string): string {
  return `Zone:${zone}`;
}

/** Equal for grants that allow the same by the same rules, whatever their bindings are called. */
function digestOf(grants: readonly Grant[]): string {
  const listed = (_: string, value: unknown): unknown => (value instanceof Set ? [...value].sort() : value);
  const text = JSON.stringify(
    grants.map(({ role, rules, within }) => [role, rules, within]),
    listed,
  );
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
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
