import { decodeProtectedHeader } from 'jose';
import { compareText, Forbidden } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { ZoneAuthentication, ZoneAuthenticator, ZoneCaller } from '../global/zone-authenticator';
import type { TokenTrust } from './token-trust';
import { Unauthenticated } from './unauthenticated';
import { CP_SCOPE } from './zone-claims';
import { verifyZoneToken } from './zone-token';

/** Admits zones by their token (design.md §5 Zone tokens): the caller is the zone that the token was issued for. */
export class ZoneTokenAuthenticator implements ZoneAuthenticator {
  /** The token that each zone came by last: the serial of its key, and its end. */
  private readonly lastTokens = new Map<string, { readonly serial: number; readonly until: number }>();

  constructor(
    private readonly trust: TokenTrust,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** Throws Unauthenticated where no valid token is shown, Forbidden where it is another zone's or for another use. */
  async authenticate({ zone, token }: ZoneCaller): Promise<ZoneAuthentication> {
    if (this.trust.isExempt(zone)) return {};
    if (token === undefined) {
      throw new Unauthenticated(
        `zone "${zone}" has to show a zone token; make one on the global: causeway tokens zone ${zone} --valid-for 720h; a zone of plain Kuma has none to show: apply its Zone with spec: {auth: none}`,
      );
    }
    const claims = await verifyZoneToken(token, this.trust.trustedKeys, this.clock.now());
    if (claims.zone !== zone)
      throw new Forbidden(`the zone token is of zone "${claims.zone}", the caller is "${zone}"`);
    if (!claims.scope.includes(CP_SCOPE)) {
      throw new Forbidden(`the zone token has not the scope "${CP_SCOPE}", only ${JSON.stringify(claims.scope)}`);
    }
    this.lastTokens.set(zone, { serial: Number(decodeProtectedHeader(token).kid), until: claims.expiresAt });
    return { until: claims.expiresAt };
  }

  /** Zones that came to this replica by a token of this key last, and it is still valid; by name. */
  zonesBy(serial: number): readonly string[] {
    const now = this.clock.now();
    const zones = [...this.lastTokens].filter(([, token]) => token.serial === serial && token.until > now);
    return zones.map(([zone]) => zone).sort(compareText);
  }

  onChange(listener: () => void): () => void {
    return this.trust.onChange(listener);
  }
}
