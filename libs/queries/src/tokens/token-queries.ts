import type { IssuedToken, ListedToken } from '@causeway/access';
import { FieldPath, Invalid, NotFound, type JsonObject } from '@causeway/resources';
import type { PageRange, SortedPage } from '@causeway/runtime';

/** The tokens of one use, as a control plane issues them. Methods throw DomainErrors. */
export interface TokenAccess<Request extends object, Issued extends IssuedToken> {
  issue(request: Request): Promise<Issued>;
  /** Returns tokens that are valid or expired within the last week; the first to expire first. */
  list(): Promise<readonly ListedToken[]>;
  /** Revokes a token by its id and resolves with warnings. */
  revoke(id: string): Promise<readonly string[]>;
  /** Creates a newer signing key and resolves with its serial. */
  rotate(): Promise<number>;
}

/** Requests for tokens of one use. */
export interface TokenForm<Request> {
  /** Name of such a token in messages. */
  readonly name: string;
  /** Why this control plane issues no such token, and which one does. */
  readonly notHere: string;
  /** Decodes a request. Throws Invalid with every wrong field. */
  readonly decode: (fields: JsonObject) => Request;
}

/**
 * Tokens of one use for callers on any interface: checks their input. Every method throws NotFound if none are issued.
 */
export class TokenQueries<
  Request extends object,
  Issued extends IssuedToken,
  Access extends TokenAccess<Request, Issued> = TokenAccess<Request, Issued>,
> {
  constructor(
    private readonly form: TokenForm<Request>,
    private readonly access: Access | undefined,
  ) {}

  /** Throws NotFound if no such tokens are issued. */
  checkHere(): void {
    this.here();
  }

  /** Issues a token on behalf of the user `issuedBy`. Rejects with Invalid for fields of a wrong type. */
  async issue(fields: JsonObject, issuedBy: string): Promise<Issued> {
    const access = this.here();
    return access.issue({ ...this.form.decode(fields), issuedBy });
  }

  /** Returns a range of the tokens that are valid or expired within the last week; the first to expire first. */
  async list(range: PageRange): Promise<SortedPage<JsonObject>> {
    return tokenPage(await this.here().list(), range);
  }

  /** Revokes a token by its id and resolves with warnings; one that is revoked stays so. */
  async revoke(id: unknown): Promise<readonly string[]> {
    const access = this.here();
    if (typeof id === 'string') return access.revoke(id);
    throw new Invalid([FieldPath.at('id').violation(`must be the id (jti) of a ${this.form.name}`)]);
  }

  /** Creates a newer signing key and resolves with its serial. */
  async rotate(): Promise<number> {
    return this.here().rotate();
  }

  protected here(): Access {
    if (this.access) return this.access;
    throw new NotFound(this.form.notHere);
  }
}

/** The fields of every listed token; times in RFC 3339. */
interface ShownToken {
  readonly id: string;
  readonly issuedAt: string;
  readonly expiresAt: string;
  readonly issuedBy: string;
  readonly revoked: boolean;
}

/** Returns a range of the issued tokens as users see them: never the tokens themselves. */
export function tokenPage(
  tokens: readonly ListedToken[],
  { offset, size }: PageRange,
): SortedPage<JsonObject & ShownToken> {
  const items = tokens.slice(offset, offset + size).map(({ id, facts, issuedAt, expiresAt, issuedBy, revoked }) => ({
    id,
    ...facts,
    issuedAt: rfc3339(issuedAt),
    expiresAt: rfc3339(expiresAt),
    issuedBy,
    revoked,
  }));
  return { total: tokens.length, items };
}

function rfc3339(time: number): string {
  return new Date(time).toISOString();
}
