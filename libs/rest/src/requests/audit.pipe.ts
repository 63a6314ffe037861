import type { PipeTransform } from '@nestjs/common';
import { decodeAuditCursor, type AuditRequest } from '@causeway/queries';
import { truncated } from '../http/http-error';
import type { RestRequest } from '../http/rest-request';
import { AUDIT_PARAMETERS } from './query-parameters';
import { readQuery, type QueryReader } from '../http/query-reader';
import { readSize } from '../http/request-decoding';

export type { AuditRequest } from '@causeway/queries';

/** RFC 3339, with the parts that `Date.parse` reads the same everywhere. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** Decodes which page of the audit log is wanted. */
export class AuditPipe implements PipeTransform<RestRequest, AuditRequest> {
  transform(request: RestRequest): AuditRequest {
    const query = readQuery(request, AUDIT_PARAMETERS);
    const wanted = {
      size: readSize(query),
      ...texts(query, ['user', 'verb', 'kind', 'mesh', 'name']),
      ...result(query),
      ...time(query, 'since'),
      ...time(query, 'until'),
      ...cursor(query),
    };
    query.check();
    return wanted;
  }
}

function texts(query: QueryReader, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = query.text(name);
      return text === undefined ? [] : [[name, text]];
    }),
  );
}

function result(query: QueryReader): Pick<AuditRequest, 'result'> {
  const text = query.text('result');
  if (text === 'done' || text === 'refused') return { result: text };
  if (text !== undefined) query.refuse('result', `must be done or refused; got "${truncated(text)}"`);
  return {};
}

function time(query: QueryReader, name: 'since' | 'until'): Pick<AuditRequest, 'since' | 'until'> {
  const text = query.text(name);
  if (text === undefined) return {};
  const at = TIME.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(at)) query.refuse(name, `must be a time such as 2026-01-31T12:00:00Z; got "${truncated(text)}"`);
  return Number.isNaN(at) ? {} : { [name]: at };
}

function cursor(query: QueryReader): Pick<AuditRequest, 'after'> {
  const text = query.text('cursor');
  if (text === undefined || text === '') return {};
  const after = decodeAuditCursor(text);
  if (after) return { after };
  query.refuse('cursor', 'was not made by this server; take it from "next" of the page before');
  return {};
}
