/** The GlobalSecret that lists the ids of revoked zone tokens, as in Kuma (rest.md §5.5). */
export const REVOCATIONS = 'zone-token-revocations';

/** The ids in a list; commas, spaces and line breaks part them. */
export function parseRevocations(text: string): ReadonlySet<string> {
  return new Set(text.split(/[\s,]+/).filter((id) => id !== ''));
}

/** The list with one more id. */
export function withRevocation(text: string, id: string): string {
  return [...parseRevocations(text), id].join(',');
}

/** True for an id as tokens have it, ours and Kuma's: a UUID. Others can only be put into the list by hand. */
export function isTokenId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
