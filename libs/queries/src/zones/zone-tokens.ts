import { zoneTokenViolations, type IssuedZoneToken, type ListedToken, type ZoneTokenRequest } from '@causeway/access';
import { FieldPath, Invalid, NotFound, type JsonObject } from '@causeway/resources';
import type { PageRange, SortedPage } from '@causeway/runtime';
import { tokenPage } from '../tokens/token-page';

/**
 * Admission of zones by a global, and of its own ingress and egress by a zone without a global (docs/design.md §5 Zone
 * tokens). Methods throw DomainErrors.
 */
export interface ZoneAccess {
  issue(request: ZoneTokenRequest): Promise<IssuedZoneToken>;
  /** Those that are valid or expired within the last week; the first to expire first. */
  list(): Promise<readonly ListedToken[]>;
  /** Revokes a token by its id and resolves with warnings. */
  revoke(id: string): Promise<readonly string[]>;
  /** Makes a newer signing key and resolves with its serial. */
  rotate(): Promise<number>;
  /** The PEM certificate of the authority by which zones verify this global; undefined where that is another one's, and in a zone. */
  authority(): string | undefined;
}

/** Zone tokens for callers on any interface: checks their input, and throws NotFound in a federated zone. */
export class ZoneTokens {
  constructor(private readonly zoneAccess: ZoneAccess | undefined) {}

  /** Throws NotFound in a federated zone: its global issues its zone tokens. */
  checkHere(): void {
    this.here();
  }

  /** Issues a token on behalf of the user `issuedBy`. Rejects with Invalid for fields of a wrong type. */
  async issue(
    fields: { readonly [field in keyof ZoneTokenRequest]?: unknown },
    issuedBy: string,
  ): Promise<IssuedZoneToken> {
    const zoneAccess = this.here();
    return zoneAccess.issue({ ...decodeRequest(fields), issuedBy });
  }

  /** A range of the tokens that are valid or expired within the last week; the first to expire first. */
  async list(range: PageRange): Promise<SortedPage<JsonObject>> {
    return tokenPage(await this.here().list(), range);
  }

  /** Revokes a token by its id and resolves with warnings; one that is revoked stays so. */
  async revoke(id: unknown): Promise<readonly string[]> {
    const zoneAccess = this.here();
    if (typeof id !== 'string')
      throw new Invalid([FieldPath.at('id').violation('must be the id (jti) of a zone token')]);
    return zoneAccess.revoke(id);
  }

  /** Makes a newer signing key and resolves with its serial. */
  async rotate(): Promise<number> {
    return this.here().rotate();
  }

  /** The PEM certificate of the authority by which zones verify this global. */
  authority(): string {
    const pem = this.here().authority();
    if (pem !== undefined) return pem;
    throw new NotFound(
      'Zones verify this control plane by no authority of its own; ask whoever issued its certificate.',
    );
  }

  private here(): ZoneAccess {
    if (this.zoneAccess) return this.zoneAccess;
    throw new NotFound(
      'Zone tokens are issued by the global control plane that this zone belongs to: send the same request there (causeway --context global, or --server URL).',
    );
  }
}

function decodeRequest({
  zone,
  validFor,
  scope,
}: { readonly [field in keyof ZoneTokenRequest]?: unknown }): ZoneTokenRequest {
  const texts = scope === undefined ? undefined : textsIn(scope);
  const violations = [
    ...(typeof zone === 'string' ? [] : [FieldPath.at('zone').violation('must be the name of a zone')]),
    ...(validFor === undefined || typeof validFor === 'string'
      ? []
      : [FieldPath.at('validFor').violation('must be a duration such as 720h or 30d')]),
    ...(scope === undefined || texts ? [] : [FieldPath.at('scope').violation('must be a list of texts')]),
  ];
  const given = { ...(typeof validFor === 'string' ? { validFor } : {}), ...(texts ? { scope: texts } : {}) };
  if (violations.length > 0 || typeof zone !== 'string')
    throw new Invalid([
      ...violations,
      ...zoneTokenViolations({ ...given, ...(typeof zone === 'string' ? { zone } : {}) }),
    ]);
  return { zone, ...given };
}

function textsIn(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((item) => typeof item === 'string');
  return texts.length === value.length ? texts : undefined;
}
