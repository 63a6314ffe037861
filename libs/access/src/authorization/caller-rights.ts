import { AccessDenied } from './access-denied';
import type { AccessPolicy } from './access-policy';
import type { Caller } from './caller';
import type { AccessTarget, Verb } from './grants';

/** Rights of one caller, by the policy at the time of each question. */
export class CallerRights {
  constructor(
    private readonly policy: AccessPolicy,
    readonly caller: Caller,
  ) {}

  may(verb: Verb, target: AccessTarget): boolean {
    return this.policy.decide(this.caller, verb, target).allowed;
  }

  /** Throws AccessDenied, whose message names the missing right, or the binding that restricts the caller. */
  check(verb: Verb, target: AccessTarget): void {
    const { allowed, reason } = this.policy.decide(this.caller, verb, target);
    if (!allowed) throw new AccessDenied(this.caller, reason);
  }

  /** Throws AccessDenied unless the caller is an administrator everywhere. */
  checkAdmin(): void {
    this.policy.authoriseAdmin(this.caller);
  }

  /** Throws AccessDenied for a caller without any right, so that nothing more is read for it. */
  checkAny(): void {
    const { user, groups } = this.caller;
    if (!this.policy.hasGrants(this.caller))
      throw new AccessDenied(this.caller, `no RoleBinding names user "${user}" or a group of ${groups.join(', ')}`);
  }
}
