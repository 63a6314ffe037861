import type { Identity } from '@causeway/resources';
import type { AuthPort } from '../global/auth';
import { isOwnGlobalSecret } from './secret-text';
import { signingKeySerial } from './signing-key';
import { TokenAuth } from './token-auth';
import { TokenTrust } from './token-trust';
import { ZoneTokens, type ZoneTokenParts } from './zone-tokens';

/** Zone tokens of one replica of the global, following the index until `close`. */
export interface ZoneTokenDesk {
  /** Judges zones by their tokens. */
  readonly auth: AuthPort;
  /** Makes tokens and takes them back. */
  readonly tokens: ZoneTokens;
  /** What the operator should know who deletes this resource: which zones come by tokens of a signing key. */
  deletionWarnings(id: Identity): readonly string[];
  /** Which secrets hold no signing key although their names say so. */
  faults(): readonly string[];
  close(): void;
}

/** Builds it; there may be no signing key yet (`tokens.ensureKey`). */
export function createZoneTokens(parts: ZoneTokenParts): ZoneTokenDesk {
  const trust = new TokenTrust(parts.index, parts.logger);
  const auth = new TokenAuth(trust, parts.clock);
  return {
    auth,
    tokens: new ZoneTokens(parts, trust),
    deletionWarnings: (id) => keyWarnings(id, auth),
    faults: () => trust.faults,
    close: () => trust.close(),
  };
}

function keyWarnings(id: Identity, auth: TokenAuth): readonly string[] {
  const serial = isOwnGlobalSecret(id) ? signingKeySerial(id.name) : undefined;
  if (serial === undefined) return [];
  const zones = auth.zonesBy(serial);
  const needing = zones.length === 0 ? '' : `; sent away until they have another: ${zones.join(', ')}`;
  return [`zone tokens signed with key ${serial} are valid no longer without it${needing}`];
}
