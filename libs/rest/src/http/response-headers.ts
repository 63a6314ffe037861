import { etagOf } from '@causeway/admission';
import type { Resource } from '@causeway/resources';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Headers of a response in JSON text that shows the store at a revision. */
export function jsonHeaders(revision: number): Record<string, string> {
  return { 'content-type': JSON_TYPE, 'causeway-revision': String(revision) };
}

/** Headers of a response that shows one resource. */
export function resourceHeaders(resource: Resource): Record<string, string> {
  return { 'content-type': JSON_TYPE, etag: etagOf(resource), 'causeway-revision': String(resource.revision) };
}
