/** Who sends a request, as authentication found out. */
export interface Caller {
  readonly user: string;
  readonly groups: readonly string[];
  /** How the caller was recognised. */
  readonly by: 'user-token' | 'oidc' | 'operator-token' | 'dataplane-token' | 'local-socket' | 'nothing';
  /** The id of the token (its claim `jti`), for the audit log and for rate limits. */
  readonly tokenId?: string;
  /** The end of the token's validity, ms since 1970: what the caller keeps open must not outlive it. */
  readonly until?: number;
}

/** The group whose members are administrators everywhere, by a binding that always exists. */
export const ADMINS = 'causeway:admins';

/** The group of everybody who was recognised. */
export const AUTHENTICATED = 'causeway:authenticated';

/** The group of who sent no credentials: bind it to a role to open reads to everybody. */
const ANONYMOUS = 'causeway:anonymous';

/** Who sent no credentials. */
export const anonymous: Caller = { user: 'anonymous', groups: [ANONYMOUS], by: 'nothing' };

/** Who reaches the unix socket of the control plane (`CAUSEWAY_ADMIN_SOCKET`) and sends no credentials. */
export const localAdmin: Caller = { user: 'local-socket', groups: [ADMINS], by: 'local-socket' };

/** Who sends the operator token of the settings. */
export const operator: Caller = { user: 'operator', groups: [ADMINS], by: 'operator-token' };

/** The administrator of former versions who had no credentials: entries of audit logs name it. */
const FORMER_LOCAL_ADMIN = 'localhost';

/** How names of users and groups begin that are the product's own. */
const RESERVED_PREFIX = 'causeway:';

/** Whether a user or group is the product's own: no token is issued for it, and no OIDC issuer gives it. */
export function isReserved(name: string): boolean {
  const users = [anonymous.user, localAdmin.user, operator.user, FORMER_LOCAL_ADMIN];
  return name.startsWith(RESERVED_PREFIX) || users.includes(name);
}
