import { encodeCursor, type ListResult, type PageRequest } from '@causeway/queries';
import type { Resource } from '@causeway/resources';
import type { PageRange, SortedPage } from '@causeway/runtime';
import { pathOf } from '../http/paths';
import { header, type RestRequest } from '../http/rest-request';
import { jsonTextResponse, type RestResponse } from '../http/rest-response';

/** What the body of a list is made of: the requested page, its resources, and the JSON text of each. */
export interface ListBody {
  readonly page: PageRequest;
  readonly result: ListResult;
  /** Called once for each item that the body has, in their order. */
  readonly text: (resource: Resource, index: number) => string;
}

/** Characters after which a page ends early, with `next`: a page of the largest resources would be a gigabyte. */
export const MAX_LIST_LENGTH = 4 * 1024 * 1024;

/**
 * The response `{total, items, next}` (docs/design.md §6); `next` is null on the last page. A page has at least one
 * item, and ends early where its items are large.
 */
export function listResponse(call: RestRequest, { page, result, text }: ListBody): RestResponse {
  const { total, resources, revision } = result;
  const items: string[] = [];
  let length = 0;
  for (const resource of resources) {
    const item = text(resource, items.length);
    length += item.length;
    if (items.length > 0 && length > MAX_LIST_LENGTH) break;
    items.push(item);
  }
  const more = result.more || items.length < resources.length;
  const next = more ? nextUrl(call, page, { shown: items.length, last: resources[items.length - 1] }) : null;
  return jsonTextResponse(`{"total":${total},"items":[${items.join(',')}],"next":${JSON.stringify(next)}}`, {
    'causeway-revision': String(revision),
  });
}

/** The body `{total, items, next}` of a range of a table that has no cursor. */
export function tableBody(
  call: RestRequest,
  { total, items }: SortedPage<object>,
  { size, offset }: PageRange,
): object {
  const more = offset + size < total;
  return {
    total,
    items,
    next: more ? nextUrl(call, { size, start: { type: 'offset', offset } }, { shown: size }) : null,
  };
}

/** How many items a page showed, and which was the last. */
interface ShownItems {
  readonly shown: number;
  readonly last?: Resource | undefined;
}

/** The URL of the next page: the same query, sorted, with `offset` or `cursor` advanced (docs/reference/kuma-rest.md §1.3). */
function nextUrl(call: RestRequest, page: PageRequest, { shown, last }: ShownItems): string {
  const query = new URLSearchParams(call.url.slice(pathOf(call.url).length + 1));
  query.set('size', String(page.size));
  if (page.start.type === 'offset') query.set('offset', String(page.start.offset + shown));
  else if (last) query.set('cursor', encodeCursor(last.id));
  query.sort();
  const host = header(call, 'host') ?? '';
  const origin = /^[A-Za-z0-9.:[\]_-]+$/.test(host) ? `http://${host}` : '';
  return `${origin}${pathOf(call.url)}?${query.toString()}`;
}
