import { type Call } from '../http/call';
import type { Query, QueryParameter } from '../http/query';
import { PAGE, PAGE_PARAMETERS } from '../read/list-query';
import { nextUrl } from '../read/next-url';

/** Parameters of a page of what is no resource. */
export const PLAIN_PAGE: readonly QueryParameter[] = PAGE_PARAMETERS.filter(({ name }) => name !== 'cursor');

/** Which part of a table is asked for. */
export interface PlainPage {
  readonly size: number;
  readonly offset: number;
}

/** Reads `size` and `offset`; refusals stay in `query`. */
export function readPlainPage(query: Query): PlainPage {
  return {
    size: query.integer('size', { minimum: 1, maximum: PAGE.largest }) ?? PAGE.size,
    offset: query.integer('offset', { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) ?? 0,
  };
}

/** `{total, items, next}` of a table. */
export function pageOf(call: Call, rows: readonly object[], { size, offset }: PlainPage): object {
  const more = offset + size < rows.length;
  return {
    total: rows.length,
    items: rows.slice(offset, offset + size),
    next: more ? nextUrl(call, { size, start: { type: 'offset', offset } }, undefined) : null,
  };
}
