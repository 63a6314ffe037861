import type { Resource } from '@causeway/resources';
import { jsonText, type Answer } from '../http/answer';
import type { Call } from '../http/call';
import type { Page } from './lister';
import type { PageQuery } from './list-query';
import { nextUrl } from './next-url';

/** What a list answer is made of: the page, how each item reads, and the revision it shows. */
export interface ListAnswer {
  readonly page: PageQuery;
  readonly found: Page;
  readonly text: (resource: Resource) => string;
  readonly revision: number;
}

/** The answer `{total, items, next}` (design.md §6); `next` is null on the last page. */
export function listAnswer(call: Call, { page, found, text, revision }: ListAnswer): Answer {
  const items = found.resources.map(text).join(',');
  const next = found.more ? nextUrl(call, page, found.resources.at(-1)) : null;
  return jsonText(`{"total":${found.total},"items":[${items}],"next":${JSON.stringify(next)}}`, {
    'causeway-revision': String(revision),
  });
}
