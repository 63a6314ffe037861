import type { NameQuery } from '@causeway/admission';
import { PAGE_SIZE } from '@causeway/api';
import {
  decodeCursor,
  parseLabelSelector,
  type LabelRequirement,
  type PageRequest,
  type Selection,
} from '@causeway/queries';
import { isJsonObject, isLabelKey, type Kind, type NamedKind, type Registry } from '@causeway/resources';
import type { PageRange } from '@causeway/runtime';
import type { QueryReader } from './query-reader';
import { pathParameter, type RestRequest } from './rest-request';
import { HttpError } from './http-error';
import { stripQuery, unknownPath } from './route-table';

const MAX_FILTERS = 20;
const FILTER = /^filter\[labels\.(.+)\]$/s;
const ANY_WHOLE_NUMBER = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;

/** Form of a document that a client requests. */
export type DocumentForm = 'universal' | 'k8s';

/** Decodes the selection of a list or watch; violations stay in `query`. */
export function readSelection(query: QueryReader): Selection {
  return {
    name: query.text('name'),
    namespace: query.text('namespace'),
    zone: query.text('zone'),
    labels: [...readFilters(query), ...readSelector(query)],
  };
}

function readFilters(query: QueryReader): LabelRequirement[] {
  const names = query.namesFrom('filter');
  if (names.length > MAX_FILTERS)
    query.refuse('filter', `may be given at most ${MAX_FILTERS} times; got ${names.length}`);
  return names.flatMap((name): LabelRequirement[] => {
    const key = FILTER.exec(name)?.[1];
    const value = query.text(name);
    if (key === undefined || !isLabelKey(key))
      query.refuse(name, 'must be written filter[labels.KEY]=value: filters are on labels only');
    return key === undefined || value === undefined ? [] : [{ type: 'in', key, values: new Set([value]) }];
  });
}

function readSelector(query: QueryReader): readonly LabelRequirement[] {
  const text = query.text('labelSelector');
  if (text === undefined || text.trim() === '') return [];
  const parsed = parseLabelSelector(text);
  if (!parsed.ok) query.refuse('labelSelector', parsed.reason);
  else if (parsed.requirements.length > MAX_FILTERS)
    query.refuse('labelSelector', `may have at most ${MAX_FILTERS} requirements`);
  else return parsed.requirements;
  return [];
}

/** Decodes the requested page; violations stay in `query`. */
export function readPage(query: QueryReader): PageRequest {
  const size = readSize(query);
  const offset = query.integer('offset', ANY_WHOLE_NUMBER);
  const cursor = query.text('cursor');
  if (cursor === undefined) return { size, start: { type: 'offset', offset: offset ?? 0 } };
  if (offset !== undefined) query.refuse('cursor', 'cannot be given together with offset');
  const key = cursor === '' ? undefined : decodeCursor(cursor);
  if (cursor !== '' && !key)
    query.refuse('cursor', 'was not made by this server; take it from "next" of the page before');
  return { size, start: { type: 'after', key } };
}

/** Decodes the page of a list without cursor; violations stay in `query`. */
export function readOffsetPage(query: QueryReader): PageRange {
  return { size: readSize(query), offset: query.integer('offset', ANY_WHOLE_NUMBER) ?? 0 };
}

/** Returns the range of a page of a list without cursor. */
export function pageRange({
  size = PAGE_SIZE.default,
  offset = 0,
}: { readonly [part in keyof PageRange]?: number | undefined }): PageRange {
  return { size, offset };
}

/** Decodes the size of a page; violations stay in `query`. */
function readSize(query: QueryReader): number {
  return query.integer('size', { minimum: 1, maximum: PAGE_SIZE.maximum }) ?? PAGE_SIZE.default;
}

/** Decodes the minimum revision that a read must show; violations stay in `query`. */
export function readMinRevision(query: QueryReader): number | undefined {
  return query.integer('minRevision', ANY_WHOLE_NUMBER);
}

/** Returns the form of document in the parameter `format`. */
export function documentForm(format: string | undefined): DocumentForm {
  return format === 'k8s' || format === 'kubernetes' ? 'k8s' : 'universal';
}

/** Kind and mesh in a path; `mesh` is absent in a path over all meshes. */
export interface KindInPath extends NamedKind {
  readonly mesh: string | undefined;
}

/** Decodes the plural and the mesh in a path; throws 404 if no kind has that scope. `one` means a single resource. */
export function kindInPath(request: RestRequest, registry: Registry, one: boolean): KindInPath {
  const plural = pathParameter(request, 'plural');
  const mesh = meshInPath(request);
  const named = registry.collection(plural);
  const scope = mesh !== undefined ? 'mesh' : one ? 'global' : named?.kind.scope;
  if (named && named.kind.scope === scope) return { ...named, mesh };
  throw new HttpError(404, unknownPath(stripQuery(request.url), registry));
}

/** Returns the mesh in a path; undefined in a path without. */
export function meshInPath(request: RestRequest): string | undefined {
  return isJsonObject(request.params) && 'mesh' in request.params ? pathParameter(request, 'mesh') : undefined;
}

/** Decodes the name of one resource from path and query of a request. */
export function nameQuery(request: RestRequest, kind: Kind, mesh: string | undefined, query: QueryReader): NameQuery {
  const namespace = kind.namespaced ? query.text('namespace') : undefined;
  const zone = query.text('zone');
  return {
    kind,
    name: pathParameter(request, 'name'),
    ...(mesh === undefined ? {} : { mesh }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(zone === undefined ? {} : { zone }),
  };
}
