import type { ZoneHeaders } from '../wire/headers';

/** The caller of a handshake or stream. */
export interface ZoneCaller {
  /** The zone that it claims to be. */
  readonly zone: string;
  /** Zone token, without the scheme. */
  readonly token?: string;
}

/** Returns the caller that the headers of a call name. */
export function toZoneCaller({ zone, token }: ZoneHeaders): ZoneCaller {
  return token === undefined ? { zone } : { zone, token };
}

/** The result of an authentication. */
export interface ZoneAuthentication {
  /** When the credentials expire, ms since 1970; the caller's streams are closed then. */
  readonly until?: number;
}

/** A zone's request for the successor of the token that it shows. */
interface TokenRenewalRequest {
  readonly zone: string;
  readonly storeId: string;
  readonly token: string;
  /** Secret of the zone's store. */
  readonly secret: string;
  readonly instance: string;
}

/** A token that a zone was admitted with. */
interface TokenInUse {
  readonly id: string;
  /** ms since 1970. */
  readonly until: number;
  readonly isRenewable: boolean;
}

/** Decides whether a caller is the zone that it claims to be (docs/design.md §5 Zone tokens). */
export interface ZoneAuthenticator {
  /** Throws Forbidden with the reason. */
  authenticate(caller: ZoneCaller): Promise<ZoneAuthentication>;
  /** Issues the successor of a zone's token; absent where no tokens are asked for. Throws DomainErrors. */
  renew?(request: TokenRenewalRequest): Promise<{ readonly token: string }>;
  /** Returns the facts of the token that this replica admitted the zone with last; undefined if it needs none. */
  shownToken?(zone: string): TokenInUse | undefined;
  /** Calls `listener` when authenticated callers may have become invalid, until the returned function is called. */
  onChange?(listener: () => void): () => void;
}

/** Accepts every caller as the zone it claims to be, for closed networks (`CAUSEWAY_KDS_AUTH=none`). */
export const noAuthentication: ZoneAuthenticator = { authenticate: () => Promise.resolve({}) };
