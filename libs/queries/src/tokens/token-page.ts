import type { ListedToken } from '@causeway/access';
import type { JsonObject } from '@causeway/resources';
import type { PageRange, SortedPage } from '@causeway/runtime';

/** A range of the tokens that were issued, as users see them: never the tokens themselves. */
export function tokenPage(tokens: readonly ListedToken[], { offset, size }: PageRange): SortedPage<JsonObject> {
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
