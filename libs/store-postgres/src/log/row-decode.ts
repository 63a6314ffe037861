import type { JsonObject, Resource, Tombstone } from '@causeway/resources';
import type { StoreChange } from '@causeway/store';
import type { ResourceRow } from '../database/entities';
import { freedOf, labelsOf, objectOf } from './column-decode';

/** Kinds, meshes, zones and namespaces repeat in almost every row: one string of each is kept. */
export class StringInterner {
  private readonly known = new Map<string, string>();

  of(text: string): string {
    const same = this.known.get(text);
    if (same !== undefined) return same;
    this.known.set(text, text);
    return text;
  }
}

/** What every resource has. */
type ResourceFacts = Omit<Resource, 'status' | 'graceStartedAt'>;

/** A resource of its facts and of what not every one has. The facts become it: a copy would take more room. */
export function resourceWith(
  facts: ResourceFacts,
  status: JsonObject | null | undefined,
  graceStartedAt: number | null | undefined,
): Resource {
  const resource: { -readonly [Key in keyof Resource]: Resource[Key] } = facts;
  if (status) resource.status = status;
  if (typeof graceStartedAt === 'number') resource.graceStartedAt = graceStartedAt;
  return resource;
}

/** The resource in a living row of a store in this life. */
export function resourceOf(row: ResourceRow, incarnation: string, texts: StringInterner): Resource {
  const facts = {
    id: identityOf(row, texts),
    uid: row.uid,
    labels: labelsOf(row.labels),
    spec: objectOf(row.spec) ?? {},
    generation: row.generation,
    creationOrder: row.creation_order,
    createdAt: row.created_at,
    modifiedAt: row.modified_at,
    revision: row.revision,
    origin: {
      incarnation: row.origin_incarnation === null ? incarnation : texts.of(row.origin_incarnation),
      revision: row.origin_revision,
      committedAt: row.origin_committed_at,
    },
    freed: freedOf(row.freed),
  };
  return resourceWith(facts, objectOf(row.status), row.grace_started_at);
}

/** A row as a change of the log. */
export function changeOf(row: ResourceRow, incarnation: string, texts: StringInterner): StoreChange {
  return row.deleted_at === null
    ? { type: 'put', resource: resourceOf(row, incarnation, texts) }
    : { type: 'delete', tombstone: tombstoneOf(row, texts) };
}

/** What a dead row tells. */
export function tombstoneOf(row: ResourceRow, texts: StringInterner): Tombstone {
  return {
    id: identityOf(row, texts),
    revision: row.revision,
    deletedAt: row.deleted_at ?? 0,
    freed: freedOf(row.freed),
  };
}

function identityOf(row: ResourceRow, texts: StringInterner): Resource['id'] {
  const { kind, mesh, zone, namespace, name } = row;
  return { kind: texts.of(kind), mesh: texts.of(mesh), zone: texts.of(zone), namespace: texts.of(namespace), name };
}
