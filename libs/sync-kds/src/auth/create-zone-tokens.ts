import type { AuthPort } from '../global/auth';
import { TokenAuth } from './token-auth';
import { TokenTrust } from './token-trust';
import { ZoneTokens, type ZoneTokenParts } from './zone-tokens';

/** Zone tokens of one replica of the global, following the index until `close`. */
export interface ZoneTokenDesk {
  /** Judges zones by their tokens. */
  readonly auth: AuthPort;
  /** Makes tokens and takes them back. */
  readonly tokens: ZoneTokens;
  /** Which secrets hold no signing key although their names say so. */
  faults(): readonly string[];
  close(): void;
}

/** Builds it; there may be no signing key yet (`tokens.ensureKey`). */
export function createZoneTokens(parts: ZoneTokenParts): ZoneTokenDesk {
  const trust = new TokenTrust(parts.index, parts.logger);
  return {
    auth: new TokenAuth(trust, parts.clock),
    tokens: new ZoneTokens(parts, trust),
    faults: () => trust.faults,
    close: () => trust.close(),
  };
}
