import type { AuditQuery } from '@causeway/store';
import type { ObjectLiteral, Repository, SelectQueryBuilder } from 'typeorm';
import { AuditRow } from '../database/entities';

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

/** The filters by equality of a query: those that one index serves, and the others. */
interface Filters {
  readonly indexed: readonly (keyof AuditQuery)[];
  readonly others: readonly (keyof AuditQuery)[];
}

/** Reads the rows of a page, and one more if there is one. Their columns have the names of the entity. */
export function pageQuery(audit: Repository<AuditRow>, query: AuditQuery): SelectQueryBuilder<ObjectLiteral> {
  const { others } = splitFilters(query);
  if (others.length === 0)
    return indexedEntries(audit.createQueryBuilder('entry').select('*'), query).limit(query.size + 1);
  const page = audit.manager
    .createQueryBuilder()
    .select('*')
    .from((from) => indexedEntries(from.select('*').from(AuditRow, 'entry'), query).limit(SEARCHED), 'searched')
    .orderBy('searched.at', 'DESC')
    .addOrderBy('searched.number', 'DESC')
    .limit(query.size + 1);
  addEquals(page, 'searched', query, others);
  return page;
}

/** Reads the last entry that the search of a page reads before it is ended for its cost; undefined for one that never is. */
export function searchEndQuery(
  audit: Repository<AuditRow>,
  query: AuditQuery,
): SelectQueryBuilder<AuditRow> | undefined {
  if (splitFilters(query).others.length === 0) return undefined;
  return indexedEntries(audit.createQueryBuilder('entry'), query)
    .select(['entry.at', 'entry.number'])
    .offset(SEARCHED - 1)
    .limit(1);
}

/** Selects the entries that an index gives, the newest first. */
function indexedEntries<Row extends ObjectLiteral>(
  entries: SelectQueryBuilder<Row>,
  query: AuditQuery,
): SelectQueryBuilder<Row> {
  const { since, until, after } = query;
  if (since !== undefined) entries.andWhere('entry.at >= :since', { since: since * 1_000 });
  if (until !== undefined) entries.andWhere('entry.at < :until', { until: until * 1_000 });
  if (after)
    entries.andWhere('(entry.at, entry.number) < (:afterAt, :afterNumber)', {
      afterAt: after.at,
      afterNumber: after.number,
    });
  addEquals(entries, 'entry', query, splitFilters(query).indexed);
  return entries.orderBy('entry.at', 'DESC').addOrderBy('entry.number', 'DESC');
}

function addEquals(
  rows: SelectQueryBuilder<ObjectLiteral>,
  alias: string,
  query: AuditQuery,
  fields: Filters['indexed'],
): void {
  for (const field of fields) {
    const column = `${alias}.${field === 'user' ? 'actor' : field}`;
    // A literal: the index of refusals is found by no parameter.
    if (query[field] === 'refused' && field === 'result') rows.andWhere(`${column} = 'refused'`);
    else rows.andWhere(`${column} = :${field}`, { [field]: query[field] });
  }
}

function splitFilters(query: AuditQuery): Filters {
  const wanted = EQUALS.filter((field) => query[field] !== undefined);
  const refused: Filters['indexed'] = query.result === 'refused' ? ['result'] : [];
  const indexed = INDEXES.find((fields) => fields.every((field) => wanted.includes(field))) ?? refused;
  return { indexed, others: wanted.filter((field) => !indexed.includes(field)) };
}
