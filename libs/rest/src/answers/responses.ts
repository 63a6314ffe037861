import { formatEtag } from '@causeway/admission';
import { encodeCursor, type ListResult, type PageRequest } from '@causeway/queries';
import type { Resource } from '@causeway/resources';
import type { PageRange, SortedPage } from '@causeway/runtime';
import { header, type RestRequest } from '../http/rest-request';
import { stripQuery } from '../http/route-table';

/** Maximum length of a page in characters, after which it ends early: a page of the largest resources would be a gigabyte. */
const MAX_LIST_LENGTH = 4 * 1024 * 1024;

/**
 * Returns the body `{total, items, next}` of a list (docs/design.md §6); `next` is null on the last page. A page has at
 * least one item, and ends early if items are large. `text` is called once per item, in order.
 */
export function listBody(
  request: RestRequest,
  page: PageRequest,
  { total, resources, more }: ListResult,
  text: (resource: Resource, index: number) => string,
): string {
  const items: string[] = [];
  let length = 0;
  for (const resource of resources) {
    const item = text(resource, items.length);
    length += item.length;
    if (items.length > 0 && length > MAX_LIST_LENGTH) break;
    items.push(item);
  }
  const isLast = !more && items.length === resources.length;
  const next = isLast ? null : nextUrl(request, page, { shown: items.length, last: resources[items.length - 1] });
  return `{"total":${total},"items":[${items.join(',')}],"next":${JSON.stringify(next)}}`;
}

/** Returns the body `{total, items, next}` for a range of a table without cursor. */
export function tableBody<T>(
  request: RestRequest,
  { total, items }: SortedPage<T>,
  { size, offset }: PageRange,
): SortedPage<T> & { readonly next: string | null } {
  const more = offset + size < total;
  return {
    total,
    items,
    next: more ? nextUrl(request, { size, start: { type: 'offset', offset } }, { shown: size }) : null,
  };
}

/** Number of items on a page, and the last item. */
interface ShownItems {
  readonly shown: number;
  readonly last?: Resource | undefined;
}

/** Returns the URL of the next page: the same query, sorted, with `offset` or `cursor` advanced (docs/reference/kuma-rest.md §1.3). */
function nextUrl(request: RestRequest, page: PageRequest, { shown, last }: ShownItems): string {
  const size = String(page.size);
  if (page.start.type === 'offset') return nextPageUrl(request, { size, offset: String(page.start.offset + shown) });
  return nextPageUrl(request, { size, ...(last ? { cursor: encodeCursor(last.id) } : {}) });
}

/** Returns the URL of a request with some parameters replaced; all are sorted. */
export function nextPageUrl(request: RestRequest, changed: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(request.url.slice(stripQuery(request.url).length + 1));
  for (const [name, value] of Object.entries(changed)) query.set(name, value);
  query.sort();
  const host = header(request, 'host') ?? '';
  const origin = /^[A-Za-z0-9.:[\]_-]+$/.test(host)
    ? `${request.socket.encrypted === true ? 'https' : 'http'}://${host}`
    : '';
  return `${origin}${stripQuery(request.url)}?${query.toString()}`;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Returns the headers of a JSON response that shows the store at a revision. */
export function jsonHeaders(revision: number): Record<string, string> {
  return { 'content-type': JSON_TYPE, 'causeway-revision': String(revision) };
}

/** Returns the headers of a response that shows one resource. */
export function resourceHeaders(resource: Resource): Record<string, string> {
  return { 'content-type': JSON_TYPE, etag: formatEtag(resource), 'causeway-revision': String(resource.revision) };
}
