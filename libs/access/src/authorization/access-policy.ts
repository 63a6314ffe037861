import type { ControlPlane, Identity, Kind, Registry } from '@causeway/resources';
import { followIndex, type IndexReader } from '@causeway/store';
import { AccessDenied } from './access-denied';
import { ADMINS, type Caller } from './caller';
import {
  affectedSubjects,
  compilePolicy,
  subjectKey,
  subjectKeys,
  type CompiledPolicy,
  type Grants,
} from './compiled-policy';
import {
  activities,
  allows,
  builtInRules,
  toAccessTarget,
  type AccessTarget,
  type Grant,
  type Rule,
  type Verb,
} from './grants';

/** Decision of the policy, and the binding that decided. */
export interface AccessDecision {
  readonly allowed: boolean;
  /** The binding that decided: the one that allows it, or the zone's own that restricts the caller. */
  readonly binding?: string;
  readonly role?: string;
  /** Reason as a sentence for people. */
  readonly reason: string;
}

/** A role that a binding grants, or to which it restricts. */
export interface HeldRole {
  readonly role: string;
  readonly binding: string;
  readonly effect: 'grants' | 'restricts';
}

/** Dependencies of an AccessPolicy. */
export interface AccessPolicySources {
  readonly registry: Registry;
  readonly index: IndexReader;
  readonly cp: ControlPlane;
}

/** Subject of a decision. */
interface AccessSubject {
  readonly keys: readonly string[];
  /** For messages. */
  readonly who: string;
}

type ZonesListener = (zones: readonly string[]) => void;

/** Subjects whose rights may have changed, as `subjectKeys` names them; undefined: all. */
type SubjectsListener = (subjects: ReadonlySet<string> | undefined) => void;

/** No kind: only the administrators' role, without narrowing, reaches it. */
const ANY_TARGET: AccessTarget = { kind: '*' };

const BUILT_IN = { binding: 'the binding that always exists', role: 'admin' } as const;
const ADMINISTRATORS: AccessDecision = Object.freeze({
  allowed: true,
  ...BUILT_IN,
  reason: `${ADMINS} are administrators`,
});

/**
 * Decides access by the Roles and RoleBindings in the index (docs/design.md §6 Roles). The global, and a zone without a
 * global, grant by their own bindings. In a federated zone the global's bindings grant and the zone's own restrict; the
 * copies of the last session stay in force while the global is away. Members of `causeway:admins` may do everything
 * everywhere.
 */
export class AccessPolicy {
  private compiled: CompiledPolicy | undefined;
  /** Version of the registry from which the kinds were read. */
  private kinds = -1;
  private builtIn: ReadonlyMap<string, readonly Rule[]> = new Map();
  private reserved: ReadonlySet<string> = new Set();
  private readonly zonesListeners = new Set<ZonesListener>();
  private readonly subjectsListeners = new Set<SubjectsListener>();
  private readonly unsubscribe: () => void;

  constructor(private readonly sources: AccessPolicySources) {
    const { index } = sources;
    this.unsubscribe = followIndex(index, {
      reload: () => this.renew(() => undefined),
      apply: (changes) => {
        if (changes.some(({ id }) => id.kind === 'Role' || id.kind === 'RoleBinding'))
          this.renew(() => affectedSubjects(changes, index));
      },
    });
  }

  /** Decides. Linear in the bindings of the caller and of its groups. */
  decide(caller: Caller, verb: Verb, target: AccessTarget): AccessDecision {
    return this.decideAny(caller, [verb], target);
  }

  /** Throws AccessDenied unless the caller is an administrator everywhere: in `causeway:admins`, or by an unnarrowed binding. */
  authoriseAdmin(caller: Caller): void {
    const { allowed } = this.decide(caller, 'create', ANY_TARGET);
    if (!allowed) throw new AccessDenied(caller, 'only administrators may do this');
  }

  /** Whether the caller may do at least one of `verbs` to the resource. */
  may(caller: Caller, verbs: readonly Verb[], id: Identity): boolean {
    return this.decideAny(caller, verbs, toAccessTarget(id)).allowed;
  }

  /**
   * Throws AccessDenied unless the caller may do at least one of `verbs` to the resource. The message names caller,
   * verbs, kind and place, never whether the resource exists. The built-in roles cover a kind that the registry does
   * not have yet by its `writer`.
   */
  authorise(caller: Caller, verbs: readonly Verb[], id: Identity, kind?: Pick<Kind, 'writer'>): void {
    const isNew = kind && !this.sources.registry.kind(id.kind);
    const target = { ...toAccessTarget(id), ...(isNew && { writer: kind.writer }) };
    const { allowed, reason } = this.decideAny(caller, verbs, target);
    if (!allowed) throw new AccessDenied(caller, reason);
  }

  /** Returns the roles of the caller by the bindings that name it or one of its groups; granting ones first. */
  listRoles(caller: Caller): readonly HeldRole[] {
    if (caller.groups.includes(ADMINS)) return [{ ...BUILT_IN, effect: 'grants' }];
    const { grants, limits } = this.policy();
    const held = (from: Grants, effect: HeldRole['effect']): HeldRole[] =>
      [...new Set(subjectKeys(caller).flatMap((key) => from.get(key) ?? []))].map(({ role, binding }) => ({
        role,
        binding,
        effect,
      }));
    return [...held(grants, 'grants'), ...held(limits, 'restricts')];
  }

  /** Whether any binding names the caller or one of its groups. */
  hasGrants(caller: Caller): boolean {
    const { grants } = this.policy();
    return caller.groups.includes(ADMINS) || subjectKeys(caller).some((key) => grants.has(key));
  }

  /**
   * Decides whether the global accepts resources of a kind from a zone. A zone that no binding names may send every
   * kind that zones send.
   */
  decideZone(zone: string, target: AccessTarget): AccessDecision {
    const key = subjectKey('Zone', zone);
    if (!this.policy().grants.has(key)) return { allowed: true, reason: `no RoleBinding names zone "${zone}"` };
    const decision = this.decideFor({ keys: [key], who: `zone "${zone}"` }, ['create'], target);
    if (decision.allowed) return decision;
    return { allowed: false, reason: `no RoleBinding lets zone "${zone}" send ${described(target)}` };
  }

  /** Returns a short hash of what a zone may send; empty for a zone that no binding names. */
  zoneDigest(zone: string): string {
    return this.policy().zones.get(zone) ?? '';
  }

  /** Calls `listener` with the zones whose right to send has changed, until the returned function is called. */
  onZonesChanged(listener: ZonesListener): () => void {
    this.policy();
    this.zonesListeners.add(listener);
    return () => void this.zonesListeners.delete(listener);
  }

  /**
   * Calls `listener` with the subjects whose rights may have changed, until the returned function is called. Linear in
   * the changed bindings, and in all bindings for each change of Roles.
   */
  onSubjectsChanged(listener: SubjectsListener): () => void {
    this.subjectsListeners.add(listener);
    return () => void this.subjectsListeners.delete(listener);
  }

  close(): void {
    this.unsubscribe();
  }

  /** `affected`: the subjects whose rights may have changed; undefined for all. */
  private renew(affected: () => ReadonlySet<string> | undefined): void {
    const before = this.compiled;
    this.compiled = undefined;
    if (before && this.zonesListeners.size > 0) this.tellZones(before);
    if (this.subjectsListeners.size === 0) return;
    const subjects = affected();
    for (const listener of this.subjectsListeners) listener(subjects);
  }

  private tellZones(before: CompiledPolicy): void {
    const after = this.policy().zones;
    const named = new Set([...before.zones.keys(), ...after.keys()]);
    const zones = [...named].filter((zone) => before.zones.get(zone) !== after.get(zone));
    if (zones.length > 0) for (const listener of this.zonesListeners) listener(zones);
  }

  private decideAny(caller: Caller, verbs: readonly Verb[], target: AccessTarget): AccessDecision {
    if (caller.groups.includes(ADMINS)) return ADMINISTRATORS;
    return this.decideFor({ keys: subjectKeys(caller), who: `user "${caller.user}"` }, verbs, target);
  }

  /** Whether at least one of `verbs` is allowed. */
  private decideFor({ keys, who }: AccessSubject, verbs: readonly Verb[], target: AccessTarget): AccessDecision {
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

  /** Kinds reserved for administrators are reached by their role only, whatever a Role says. */
  private reaches({ role, rules }: Grant, verb: Verb, { kind }: AccessTarget): boolean {
    const isAdmin = role === 'admin' && rules === this.builtIn.get('admin');
    if (isAdmin || !this.reserved.has(kind)) return true;
    const read = verb === 'get' || verb === 'list' || verb === 'watch';
    return read && this.sources.registry.kind(kind)?.confidential === false;
  }

  private policy(): CompiledPolicy {
    const { registry } = this.sources;
    if (this.kinds !== registry.version) {
      this.kinds = registry.version;
      this.builtIn = builtInRules(registry);
      this.reserved = listReservedKinds(registry);
      this.compiled = undefined;
    }
    this.compiled ??= compilePolicy(this.sources, this.builtIn);
    return this.compiled;
  }
}

/** Returns confidential kinds, and the kinds and activities reserved for administrators. */
function listReservedKinds(registry: Registry): ReadonlySet<string> {
  const kinds = registry.kinds.filter(({ confidential, writer }) => confidential || writer === 'admin');
  const acts = Object.entries(activities).filter(([, writer]) => writer === 'admin');
  return new Set([...kinds.map(({ name }) => name), ...acts.map(([name]) => name), ANY_TARGET.kind]);
}

function described({ kind, mesh, namespace }: AccessTarget): string {
  const place = [
    ...(namespace === undefined ? [] : [`namespace "${namespace}"`]),
    ...(mesh === undefined ? [] : [`mesh "${mesh}"`]),
  ].join(' of ');
  return place === '' ? kind : `${kind} in ${place}`;
}
