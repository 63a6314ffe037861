import type { AuditQuery } from '@causeway/store';
import type { Statement } from '../database/store-database';

/** Maximum number of entries that a page reads to find those that match filters without an index. */
const SEARCHED = 50_000;

/** The columns of filters by equality, in the order of an index. */
const INDEXES: readonly (readonly (keyof AuditQuery)[])[] = [
  ['kind', 'mesh', 'name'],
  ['user'],
  ['kind', 'mesh'],
  ['kind'],
];
const EQUALS: readonly (keyof AuditQuery)[] = ['user', 'verb', 'kind', 'mesh', 'name', 'result'];

/** Conditions of a query with their values: those that one index serves, and the others after them. */
interface Search {
  readonly indexed: readonly string[];
  readonly others: readonly string[];
  readonly values: readonly unknown[];
  /** Number of values of the indexed conditions. */
  readonly indexedValues: number;
}

/** Reads the entries of a page, and one more if there is one. */
export function pageStatement(query: AuditQuery): Statement {
  const search = toSearch(query);
  const { others, values } = search;
  const size = `$${values.length + 1}`;
  return {
    text: `SELECT * FROM (${formatEntriesSql(search)}) AS searched${where(others)} ORDER BY at DESC, number DESC LIMIT ${size}`,
    values: [...values, query.size + 1],
  };
}

/** Reads the last entry that the search of a page reads before it is ended for its cost; undefined for one that never is. */
export function searchEndStatement(query: AuditQuery): Statement | undefined {
  const search = toSearch(query);
  const { others, values, indexedValues } = search;
  if (others.length === 0) return undefined;
  return {
    text: `SELECT at, number FROM (${formatEntriesSql(search)}) AS searched OFFSET ${SEARCHED - 1} LIMIT 1`,
    values: values.slice(0, indexedValues),
  };
}

function toSearch(query: AuditQuery): Search {
  const values: unknown[] = [];
  const place = (value: unknown): string => `$${values.push(value)}`;
  const equals = (field: keyof AuditQuery): string => `${field === 'user' ? 'actor' : field} = ${place(query[field])}`;
  const { since, until, after } = query;
  const times = [
    ...(since === undefined ? [] : [`at >= ${place(since * 1_000)}`]),
    ...(until === undefined ? [] : [`at < ${place(until * 1_000)}`]),
    ...(after === undefined ? [] : [`(at, number) < (${place(after.at)}, ${place(after.number)})`]),
  ];
  const wanted = EQUALS.filter((field) => query[field] !== undefined);
  const index = INDEXES.find((fields) => fields.every((field) => wanted.includes(field))) ?? [];
  // A literal: the index of refusals is found by no parameter.
  const refused = index.length === 0 && query.result === 'refused';
  const indexed = [...times, ...index.map(equals), ...(refused ? [`result = 'refused'`] : [])];
  const indexedValues = values.length;
  const left = wanted.filter((field) => !index.includes(field) && !(refused && field === 'result'));
  return { indexed, others: left.map(equals), values, indexedValues };
}

function formatEntriesSql({ indexed, others }: Search): string {
  const end = others.length === 0 ? '' : ` LIMIT ${SEARCHED}`;
  return `SELECT * FROM audit${where(indexed)} ORDER BY at DESC, number DESC${end}`;
}

function where(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
}
