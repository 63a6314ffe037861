import type { ZoneHeaders } from '../wire/headers';

/** Who asks for a session or a stream. */
export interface ZoneCaller {
  /** The zone it says it is. */
  readonly zone: string;
  /** Zone token, without the scheme. */
  readonly token?: string;
}

/** Who speaks, by the headers of a call. */
export function callerOf({ zone, token }: ZoneHeaders): ZoneCaller {
  return token === undefined ? { zone } : { zone, token };
}

/** A caller that was let in. */
export interface ZoneAuthentication {
  /** When what it showed ends to be valid, ms since 1970; its streams are closed then. */
  readonly until?: number;
}

/** Decides whether a caller is the zone that it says it is (design.md §5 Zone tokens). */
export interface ZoneAuthenticator {
  /** Throws Forbidden with what is wrong. */
  authenticate(caller: ZoneCaller): Promise<ZoneAuthentication>;
  /** Calls `listener` when somebody who was admitted may no longer be, until the returned function is called. */
  onChange?(listener: () => void): () => void;
}

/** Admits everybody as whoever they say, for closed networks (`CAUSEWAY_KDS_AUTH=none`). */
export const noAuthentication: ZoneAuthenticator = { authenticate: () => Promise.resolve({}) };
