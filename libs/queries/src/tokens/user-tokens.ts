import { userTokenViolations, type IssuedUserToken, type ListedToken, type UserTokenRequest } from '@causeway/access';
import { FieldPath, Invalid, NotFound, type JsonObject } from '@causeway/resources';
import type { PageRange, SortedPage } from '@causeway/runtime';
import { tokenPage } from './token-page';

/** Issuer of user tokens of this control plane. Methods throw DomainErrors. */
export interface UserAccess {
  issue(request: UserTokenRequest): Promise<IssuedUserToken>;
  /** Those that are valid or expired within the last week; the first to expire first. */
  list(): Promise<readonly ListedToken[]>;
  /** Revokes a token by its id and resolves with warnings. */
  revoke(id: string): Promise<readonly string[]>;
  /** Makes a newer signing key and resolves with its serial. */
  rotate(): Promise<number>;
}

/** User tokens for callers on any interface: checks their input. */
export class UserTokens {
  constructor(private readonly userAccess: UserAccess | undefined) {}

  /** Issues a token on behalf of the user `issuedBy`. Rejects with Invalid for fields of a wrong type. */
  async issue(
    fields: { readonly [field in keyof UserTokenRequest]?: unknown },
    issuedBy: string,
  ): Promise<IssuedUserToken> {
    return this.here().issue({ ...decodeRequest(fields), issuedBy });
  }

  /** A range of the tokens that are valid or expired within the last week; the first to expire first. */
  async list(range: PageRange): Promise<SortedPage<JsonObject>> {
    return tokenPage(await this.here().list(), range);
  }

  /** Revokes a token by its id and resolves with warnings; one that is revoked stays so. */
  async revoke(id: unknown): Promise<readonly string[]> {
    if (typeof id !== 'string')
      throw new Invalid([FieldPath.at('id').violation('must be the id (jti) of a user token')]);
    return this.here().revoke(id);
  }

  /** Makes a newer signing key and resolves with its serial. */
  async rotate(): Promise<number> {
    return this.here().rotate();
  }

  private here(): UserAccess {
    if (this.userAccess) return this.userAccess;
    throw new NotFound('This control plane issues no user tokens.');
  }
}

function decodeRequest({
  name,
  groups,
  validFor,
}: { readonly [field in keyof UserTokenRequest]?: unknown }): UserTokenRequest {
  const isList = Array.isArray(groups) && groups.every((item) => typeof item === 'string');
  const violations = [
    ...(typeof name === 'string' ? [] : [FieldPath.at('name').violation('must be the name of a user')]),
    ...(groups === undefined || isList ? [] : [FieldPath.at('groups').violation('must be a list of texts')]),
    ...(validFor === undefined || typeof validFor === 'string'
      ? []
      : [FieldPath.at('validFor').violation('must be a duration such as 24h or 30d')]),
  ];
  const given = { ...(isList ? { groups } : {}), ...(typeof validFor === 'string' ? { validFor } : {}) };
  if (violations.length > 0 || typeof name !== 'string')
    throw new Invalid([
      ...violations,
      ...userTokenViolations({ ...given, ...(typeof name === 'string' ? { name } : {}) }),
    ]);
  return { name, ...given };
}
