/** The GlobalSecret that lists the ids of revoked zone tokens, as in Kuma (rest.md §5.5). */
export const REVOCATIONS = 'zone-token-revocations';

/** The ids in a list; commas, spaces and line breaks part them. */
export function readRevocations(text: string): ReadonlySet<string> {
  return new Set(text.split(/[\s,]+/).filter((id) => id !== ''));
}

/** The list with one more id. */
export function withRevocation(text: string, id: string): string {
  return [...readRevocations(text), id].join(',');
}

/** True for what can stand in the list as one id. */
export function isTokenId(text: string): boolean {
  return /^[^\s,]{1,200}$/.test(text);
}
