import type { Resource } from '@causeway/resources';
import { jsonTextResponse, type RestResponse } from '../http/rest-response';
import type { RestRequest } from '../http/rest-request';
import type { ListPage } from './lister';
import type { PageRequest } from './list-query';
import { nextUrl } from './next-url';

/** What a list answer is made of: the page, how each item reads, and the revision it shows. */
export interface ListAnswer {
  readonly page: PageRequest;
  readonly found: ListPage;
  readonly text: (resource: Resource) => string;
  readonly revision: number;
}

/** Characters after which a page ends early, with `next`: a page of the largest resources would be a gigabyte. */
export const LONGEST_LIST = 4 * 1024 * 1024;

/**
 * The answer `{total, items, next}` (design.md §6); `next` is null on the last page. A page has at least one item, and
 * ends early where its items are large.
 */
export function listAnswer(call: RestRequest, { page, found, text, revision }: ListAnswer): RestResponse {
  const items: string[] = [];
  let length = 0;
  for (const resource of found.resources) {
    const item = text(resource);
    length += item.length;
    if (items.length > 0 && length > LONGEST_LIST) break;
    items.push(item);
  }
  const more = found.more || items.length < found.resources.length;
  const next = more ? nextUrl(call, page, { shown: items.length, last: found.resources[items.length - 1] }) : null;
  return jsonTextResponse(`{"total":${found.total},"items":[${items.join(',')}],"next":${JSON.stringify(next)}}`, {
    'causeway-revision': String(revision),
  });
}
