import { checkName, FieldPath, Invalid, type Violation } from '@causeway/resources';
import { TokenIssuer, type IssuedToken, type TokenDependencies } from '../tokens/token-issuer';
import type { TokenTrust } from '../tokens/token-trust';
import { ZONE_TOKEN } from '../tokens/token-use';
import { parseValidity, validityViolations } from '../tokens/validity';
import { CP_SCOPE, SCOPES, zonePayload } from './zone-token';

/** Default validity of a zone token: 30 days. */
const ZONE_TOKEN_VALIDITY = '720h';

/** A request for a zone token. */
export interface ZoneTokenRequest {
  readonly zone: string;
  /** A duration such as `720h` or `30d`; `ZONE_TOKEN_VALIDITY` by default. */
  readonly validFor?: string;
  /** `["cp"]` by default: the token of a control plane. */
  readonly scope?: readonly string[];
  /** The user who asks for it. */
  readonly issuedBy?: string;
}

/** A new zone token. It is returned once and stored nowhere. */
export interface IssuedZoneToken extends IssuedToken {
  readonly zone: string;
  readonly scope: readonly string[];
}

/** The zone tokens of a control plane (docs/design.md §5 Zone tokens). */
export class ZoneTokenIssuer extends TokenIssuer {
  constructor(dependencies: TokenDependencies, trust: TokenTrust) {
    super(dependencies, trust, ZONE_TOKEN);
  }

  /** Issues a token, signed with the newest key. Throws Invalid, and what `issueToken` throws. */
  async issue(request: ZoneTokenRequest): Promise<IssuedZoneToken> {
    const { zone, scope = [CP_SCOPE], validFor = ZONE_TOKEN_VALIDITY, issuedBy = '' } = request;
    const validity = parseValidity(validFor);
    const violations = zoneTokenViolations({ zone, scope, validFor });
    if (violations.length > 0 || !validity.ok) throw new Invalid(violations);
    const facts = { zone, scope: [...scope] };
    const order = { claims: zonePayload({ zone, scope }), facts, validity: validity.ms, issuedBy };
    return { ...(await this.issueToken(order)), ...facts };
  }
}

/** Returns the violations of the given fields of a request. */
export function zoneTokenViolations({ zone, scope, validFor }: Partial<ZoneTokenRequest>): readonly Violation[] {
  return [
    ...(zone === undefined ? [] : zoneViolations(zone)),
    ...(scope === undefined ? [] : scopeViolations(scope)),
    ...(validFor === undefined ? [] : validityViolations(parseValidity(validFor))),
  ];
}

function zoneViolations(zone: string): Violation[] {
  const at = FieldPath.at('zone');
  if (zone.length > 63) return [at.violation(`must not be longer than 63 characters, has ${zone.length}`)];
  return [...checkName(zone, at)];
}

function scopeViolations(scope: readonly string[]): Violation[] {
  const at = FieldPath.at('scope');
  if (scope.length === 0) return [at.violation(`must name at least one of ${SCOPES.join(', ')}`)];
  if (scope.length > SCOPES.length) return [at.violation(`must not have more than ${SCOPES.length} items`)];
  return scope.flatMap((name, i) =>
    SCOPES.some((known) => known === name)
      ? []
      : [at.index(i).violation(`must be one of ${SCOPES.join(', ')}; got "${name}"`)],
  );
}
