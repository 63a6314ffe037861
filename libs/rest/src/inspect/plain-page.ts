import type { PageRange, SortedPage } from '@causeway/runtime';
import { type RestRequest } from '../http/rest-request';
import type { QueryReader, RestQueryParameter } from '../http/query-reader';
import { PAGE_SIZE, PAGE_PARAMETERS } from '../read/list-query';
import { nextUrl } from '../read/next-url';

/** Parameters of a page of what is no resource. */
export const OFFSET_PAGE_PARAMETERS: readonly RestQueryParameter[] = PAGE_PARAMETERS.filter(
  ({ name }) => name !== 'cursor',
);

/** Reads `size` and `offset`; refusals stay in `query`. */
export function readOffsetPage(query: QueryReader): PageRange {
  return {
    size: query.integer('size', { minimum: 1, maximum: PAGE_SIZE.maximum }) ?? PAGE_SIZE.default,
    offset: query.integer('offset', { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) ?? 0,
  };
}

/** `{total, items, next}` of a part of a table. */
export function pageOf(call: RestRequest, { total, items }: SortedPage<object>, { size, offset }: PageRange): object {
  const more = offset + size < total;
  return {
    total,
    items,
    next: more ? nextUrl(call, { size, start: { type: 'offset', offset } }, { shown: size }) : null,
  };
}
