import { AccessDenied } from './access-denied';
import type { AccessPolicy } from './access-policy';
import type { Caller } from './caller';
import type { AccessTarget, Verb } from './grants';

/** What one caller may do, by the policy as it stands at each question. */
export class CallerRights {
  constructor(
    private readonly policy: AccessPolicy,
    readonly caller: Caller,
  ) {}

  may(verb: Verb, target: AccessTarget): boolean {
    return this.policy.decide(this.caller, verb, target).allowed;
  }

  /** Throws AccessDenied, whose message says what is missing, or which binding restricts the caller. */
  check(verb: Verb, target: AccessTarget): void {
    const { allowed, reason } = this.policy.decide(this.caller, verb, target);
    if (!allowed) throw new AccessDenied(this.caller, reason);
  }

  /** Throws AccessDenied unless the caller is an administrator everywhere. */
  checkAdmin(): void {
    this.policy.authoriseAdmin(this.caller);
  }

  /** Throws AccessDenied for a caller that may do nothing at all, so that no more is looked at for it. */
  checkAny(): void {
    const { user, groups } = this.caller;
    if (!this.policy.hasGrants(this.caller))
      throw new AccessDenied(this.caller, `no RoleBinding names user "${user}" or a group of ${groups.join(', ')}`);
  }
}
