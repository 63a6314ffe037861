import { Authenticator, localAdmin, type Caller } from '@causeway/access';

/** The operator token of control planes that tests start. */
export const ADMIN_TOKEN = 'the-operator-token-of-programs-in-tests';

/** Settings of a control plane by which `ADMIN_TOKEN` is an administrator's, as often as a test sends it. */
export const ADMIN_SETTINGS = { CAUSEWAY_OPERATOR_TOKEN: ADMIN_TOKEN, CAUSEWAY_USER_RATE: '0' } as const;

/** Headers of an administrator's request. */
export const ADMIN_HEADERS = { authorization: `Bearer ${ADMIN_TOKEN}` } as const;

/** `fetch` as an administrator of a control plane that a test started. */
export function adminFetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (!headers.has('authorization')) headers.set('authorization', ADMIN_HEADERS.authorization);
  return fetch(url, { ...init, headers });
}

/** Treats a caller without credentials as an administrator, for servers in a test's own process. */
export class OpenAuthenticator extends Authenticator {
  override authenticate(token: string | undefined): Promise<Caller> {
    return token === undefined ? Promise.resolve(localAdmin) : super.authenticate(token);
  }
}
