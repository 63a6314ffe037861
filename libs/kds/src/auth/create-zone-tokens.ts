import type { Identity } from '@causeway/resources';
import type { ZoneAuthenticator } from '../global/zone-authenticator';
import { isOwnGlobalSecret } from './secret-text';
import { signingKeySerial } from './signing-key';
import { ZoneTokenAuthenticator } from './zone-token-authenticator';
import { TokenTrust } from './token-trust';
import { ZoneTokenIssuer, type ZoneTokenOptions } from './zone-tokens';

/** Zone tokens of one replica of the global, following the index until `close`. */
export interface ZoneTokenService {
  /** Judges zones by their tokens. */
  readonly auth: ZoneAuthenticator;
  /** Makes tokens and takes them back. */
  readonly tokens: ZoneTokenIssuer;
  /** What the operator should know who deletes this resource: which zones come by tokens of a signing key. */
  deletionWarnings(id: Identity): readonly string[];
  /** Which secrets hold no signing key although their names say so. */
  faults(): readonly string[];
  close(): void;
}

/** Builds it; there may be no signing key yet (`tokens.ensureKey`). */
export function createZoneTokenService(parts: ZoneTokenOptions): ZoneTokenService {
  const trust = new TokenTrust(parts.index, parts.logger);
  const auth = new ZoneTokenAuthenticator(trust, parts.clock);
  return {
    auth,
    tokens: new ZoneTokenIssuer(parts, trust),
    deletionWarnings: (id) => keyWarnings(id, auth),
    faults: () => trust.faults,
    close: () => trust.close(),
  };
}

function keyWarnings(id: Identity, auth: ZoneTokenAuthenticator): readonly string[] {
  const serial = isOwnGlobalSecret(id) ? signingKeySerial(id.name) : undefined;
  if (serial === undefined) return [];
  const zones = auth.zonesBy(serial);
  const needing = zones.length === 0 ? '' : `; sent away until they have another: ${zones.join(', ')}`;
  return [`zone tokens signed with key ${serial} are valid no longer without it${needing}`];
}
