import { listAuditEntries } from '@causeway/api';
import { decodeAuditCursor, type AuditRequest } from '@causeway/queries';
import { nextPageUrl } from '../answers/responses';
import { truncated } from '../http/http-error';
import type { QueryReader } from '../http/query-reader';
import { pageRange } from '../http/request-decoding';
import { readingEndpoint, type Endpoint } from '../operations/endpoint';
import type { EndpointSources } from '../operations/sources';

/** An RFC 3339 time that `Date.parse` reads the same everywhere. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** Endpoint of the audit log: actions of users, and refusals. */
export function auditEndpoints({ queries }: EndpointSources): readonly Endpoint[] {
  return [
    readingEndpoint(
      listAuditEntries,
      (query) => ({ ...readTime(query, 'since'), ...readTime(query, 'until'), ...readCursor(query) }),
      async ({ request }, { query: { since: _since, until: _until, cursor: _cursor, size, ...filter }, more }) => {
        const wanted = { ...filter, ...more, size: pageRange({ size }).size };
        const { items, next } = await queries.audit.page(wanted);
        const query = { size: String(wanted.size), cursor: next ?? '' };
        return { items, next: next === undefined ? null : nextPageUrl(request, query) };
      },
    ),
  ];
}

function readTime(query: QueryReader, name: 'since' | 'until'): Pick<AuditRequest, 'since' | 'until'> {
  const text = query.text(name);
  if (text === undefined) return {};
  const at = TIME.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(at)) query.refuse(name, `must be a time such as 2026-01-31T12:00:00Z; got "${truncated(text)}"`);
  return Number.isNaN(at) ? {} : { [name]: at };
}

function readCursor(query: QueryReader): Pick<AuditRequest, 'after'> {
  const text = query.text('cursor');
  if (text === undefined || text === '') return {};
  const after = decodeAuditCursor(text);
  if (after) return { after };
  query.refuse('cursor', 'was not made by this server; take it from "next" of the page before');
  return {};
}
