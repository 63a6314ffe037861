import {
  AccessDenied,
  activities,
  anonymous,
  AUTHENTICATED,
  type AccessDecision,
  type AccessPolicy,
  type Caller,
  type HeldRole,
  type Verb,
} from '@causeway/access';
import { FieldPath, Invalid, type Registry } from '@causeway/resources';

/** A question whether a user may perform an action. */
export interface AccessQuestion {
  /** Absent, like `groups`: the caller itself. */
  readonly user?: string | undefined;
  /** Groups of the user besides `causeway:authenticated`. */
  readonly groups: readonly string[];
  readonly verb: Verb;
  /** A kind by any of its names, or an activity. */
  readonly kind: string;
  /** Absent: all meshes. */
  readonly mesh?: string | undefined;
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
}

/** Answers whether an action is allowed, and by which binding: `GET /_access` and `causeway auth can-i`. */
export class AccessReviews {
  constructor(
    private readonly registry: Registry,
    private readonly policy: Pick<AccessPolicy, 'decide' | 'listRoles'>,
  ) {}

  /** Throws AccessDenied for a caller who asks about others and may not `get` AccessReview, Invalid for an unknown kind. */
  review(caller: Caller, { verb, kind, mesh, namespace, ...who }: AccessQuestion): AccessDecision {
    const subject = this.findSubject(caller, who);
    const name = this.registry.noun(kind)?.name ?? this.registry.kind(kind)?.name ?? activityNamed(kind);
    if (name === undefined)
      throw new Invalid([FieldPath.at('kind').violation(`must be a kind or an activity; got "${kind.slice(0, 80)}"`)]);
    return this.policy.decide(subject, verb, { kind: name, mesh, namespace });
  }

  /** Returns the roles of the caller, and the bindings that grant them. */
  rolesOf(caller: Caller): readonly HeldRole[] {
    return this.policy.listRoles(caller);
  }

  private findSubject(caller: Caller, { user, groups }: Pick<AccessQuestion, 'user' | 'groups'>): Caller {
    if (user === undefined && groups.length === 0) return caller;
    const { allowed, reason } = this.policy.decide(caller, 'get', { kind: 'AccessReview' });
    if (!allowed) throw new AccessDenied(caller, reason);
    // No user can authenticate with this name: it represents calls without credentials.
    if (user === anonymous.user) return { ...anonymous, groups: [...anonymous.groups, ...groups] };
    return { user: user ?? '', groups: [...groups, AUTHENTICATED], by: 'user-token' };
  }
}

function activityNamed(text: string): string | undefined {
  return Object.keys(activities).find((name) => name.toLowerCase() === text.toLowerCase());
}
