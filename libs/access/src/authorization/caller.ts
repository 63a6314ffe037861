/** The authenticated sender of a request. */
export interface Caller {
  readonly user: string;
  readonly groups: readonly string[];
  /** Method of authentication. */
  readonly by: 'user-token' | 'oidc' | 'operator-token' | 'dataplane-token' | 'local-socket' | 'nothing';
  /** The id of the token (its claim `jti`), for the audit log and for rate limits. */
  readonly tokenId?: string;
  /** End of the token's validity, ms since 1970: streams of the caller must not outlive it. */
  readonly until?: number;
}

/** The group whose members are administrators everywhere, by a binding that always exists. */
export const ADMINS = 'causeway:admins';

/** Group of all authenticated callers. */
export const AUTHENTICATED = 'causeway:authenticated';

/** Group of callers without credentials: bind it to a role to open reads to everybody. */
const ANONYMOUS = 'causeway:anonymous';

/** Caller without credentials. */
export const anonymous: Caller = { user: 'anonymous', groups: [ANONYMOUS], by: 'nothing' };

/** Caller on the unix socket of the control plane (`CAUSEWAY_ADMIN_SOCKET`) without credentials. */
export const localAdmin: Caller = { user: 'local-socket', groups: [ADMINS], by: 'local-socket' };

/** Caller with the operator token of the settings. */
export const operator: Caller = { user: 'operator', groups: [ADMINS], by: 'operator-token' };

/** Administrator without credentials of former versions: entries of audit logs name it. */
const FORMER_LOCAL_ADMIN = 'localhost';

/** Prefix of reserved names of users and groups. */
const RESERVED_PREFIX = 'causeway:';

/** Whether a user or group is reserved: no token is issued for it, and no OIDC issuer can assign it. */
export function isReserved(name: string): boolean {
  const users = [anonymous.user, localAdmin.user, operator.user, FORMER_LOCAL_ADMIN];
  return name.startsWith(RESERVED_PREFIX) || users.includes(name);
}
