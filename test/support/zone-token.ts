import type { ZoneTokenSource } from '@causeway/kds';

/** A token that no other one takes the place of while a session lasts. */
export function shownToken(current: () => string | undefined): ZoneTokenSource {
  const nothing = (): void => undefined;
  return { current, accepted: nothing, refused: nothing, onChange: () => nothing };
}

/** A JWT with these claims and a signature that fits no key. */
export function unsignedToken(claims: object): string {
  const parts = [{ alg: 'RS256', kid: '1', typ: 'JWT' }, claims].map((part) => JSON.stringify(part));
  return [...parts, 'none'].map((part) => Buffer.from(part).toString('base64url')).join('.');
}
