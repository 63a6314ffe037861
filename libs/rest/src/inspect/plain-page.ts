import type { Part, SortedPage } from '@causeway/runtime';
import { type Call } from '../http/call';
import type { Query, QueryParameter } from '../http/query';
import { PAGE, PAGE_PARAMETERS } from '../read/list-query';
import { nextUrl } from '../read/next-url';

/** Parameters of a page of what is no resource. */
export const PLAIN_PAGE: readonly QueryParameter[] = PAGE_PARAMETERS.filter(({ name }) => name !== 'cursor');

/** Reads `size` and `offset`; refusals stay in `query`. */
export function readPlainPage(query: Query): Part {
  return {
    size: query.integer('size', { minimum: 1, maximum: PAGE.largest }) ?? PAGE.size,
    offset: query.integer('offset', { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) ?? 0,
  };
}

/** `{total, items, next}` of a part of a table. */
export function pageOf(call: Call, { total, items }: SortedPage<object>, { size, offset }: Part): object {
  const more = offset + size < total;
  return {
    total,
    items,
    next: more ? nextUrl(call, { size, start: { type: 'offset', offset } }, { shown: size }) : null,
  };
}
