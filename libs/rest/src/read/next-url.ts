import type { Resource } from '@causeway/resources';
import { header, type RestRequest } from '../http/rest-request';
import { pathOf } from '../http/paths';
import { encodeCursor } from './cursor';
import type { PageRequest } from './list-query';

/** What a page showed: how many items, and which came last. */
export interface Shown {
  readonly shown: number;
  readonly last?: Resource | undefined;
}

/** The URL of the page that follows: the same query, sorted, with `offset` or `cursor` moved on (rest.md §1.3). */
export function nextUrl(call: RestRequest, page: PageRequest, { shown, last }: Shown): string {
  const query = new URLSearchParams(call.url.slice(pathOf(call.url).length + 1));
  query.set('size', String(page.size));
  if (page.start.type === 'offset') query.set('offset', String(page.start.offset + shown));
  else if (last) query.set('cursor', encodeCursor(last.id));
  query.sort();
  const host = header(call, 'host') ?? '';
  const origin = /^[A-Za-z0-9.:[\]_-]+$/.test(host) ? `http://${host}` : '';
  return `${origin}${pathOf(call.url)}?${query.toString()}`;
}
