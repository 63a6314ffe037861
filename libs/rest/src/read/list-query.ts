import { isLabelKey, type Kind } from '@causeway/resources';
import type { QueryReader, RestQueryParameter } from '../http/query-reader';
import { decodeCursor } from './cursor';
import { parseLabelSelector, type LabelRequirement } from './label-selector';
import type { SortKey } from './sorted-index';

/** How many items a page has when the query does not say, and at most (rest.md §1.3). */
export const PAGE_SIZE = { default: 100, maximum: 1_000 } as const;

const MOST_FILTERS = 20;
const FILTER = /^filter\[labels\.(.+)\]$/s;

/** Which resources of a kind a list or watch is about. */
export interface Selection {
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  readonly zone: string | undefined;
  readonly labels: readonly LabelRequirement[];
}

/** Which part of a list is asked for. */
export interface PageRequest {
  readonly size: number;
  /** Where the page begins: after so many items, or after a place in the order. */
  readonly start:
    | { readonly type: 'offset'; readonly offset: number }
    | { readonly type: 'after'; readonly place: SortKey | undefined };
}

/** Parameters that narrow a list or a watch of `kind`. */
export function selectionParameters(kind: Kind): readonly RestQueryParameter[] {
  return [
    {
      name: 'name',
      description: 'Only resources whose name contains this text.',
      schema: { type: 'string', maxLength: 253 },
    },
    ...(kind.namespaced
      ? [
          {
            name: 'namespace',
            description: 'Only resources of this namespace.',
            schema: { type: 'string', maxLength: 253 },
          },
        ]
      : []),
    {
      name: 'zone',
      description: 'Only resources made in this zone; empty means those made on the global.',
      schema: { type: 'string', maxLength: 253 },
    },
    {
      name: 'filter',
      family: true,
      description:
        'filter[labels.KEY]=value: only resources whose label KEY has exactly this value; for several keys at once.',
      schema: {
        type: 'object',
        patternProperties: { '^labels\\..': { type: 'string', maxLength: 63 } },
        additionalProperties: false,
      },
    },
    {
      name: 'labelSelector',
      description:
        "Only resources whose labels match, in Kubernetes' syntax: a=b, a!=b, a in (b, c), a notin (b), a, !a.",
      schema: { type: 'string', maxLength: 2048 },
    },
  ];
}

/** Parameters that choose a page. */
export const PAGE_PARAMETERS: readonly RestQueryParameter[] = [
  {
    name: 'size',
    description: 'Items on a page.',
    schema: { type: 'integer', minimum: 1, maximum: PAGE_SIZE.maximum, default: PAGE_SIZE.default },
  },
  { name: 'offset', description: 'Items to skip.', schema: { type: 'integer', minimum: 0 } },
  {
    name: 'cursor',
    description:
      'Where the page begins, from `next` of the page before; empty begins. Unlike `offset` it stays right while resources come and go.',
    schema: { type: 'string', maxLength: 2048, pattern: '^[A-Za-z0-9_-]*$' },
  },
];

/** Reads what a list or watch is about; refusals stay in `query`. */
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
  if (names.length > MOST_FILTERS)
    query.refuse('filter', `may be given at most ${MOST_FILTERS} times; got ${names.length}`);
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
  const reading = parseLabelSelector(text);
  if (!reading.ok) query.refuse('labelSelector', reading.reason);
  else if (reading.requirements.length > MOST_FILTERS)
    query.refuse('labelSelector', `may have at most ${MOST_FILTERS} requirements`);
  else return reading.requirements;
  return [];
}

/** Reads which page is asked for; refusals stay in `query`. */
export function readPage(query: QueryReader): PageRequest {
  const size = query.integer('size', { minimum: 1, maximum: PAGE_SIZE.maximum }) ?? PAGE_SIZE.default;
  const offset = query.integer('offset', { minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
  const cursor = query.text('cursor');
  if (cursor === undefined) return { size, start: { type: 'offset', offset: offset ?? 0 } };
  if (offset !== undefined) query.refuse('cursor', 'cannot be given together with offset');
  const place = cursor === '' ? undefined : decodeCursor(cursor);
  if (cursor !== '' && !place)
    query.refuse('cursor', 'was not made by this server; take it from "next" of the page before');
  return { size, start: { type: 'after', place } };
}
