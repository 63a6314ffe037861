import {
  isJsonArray,
  isJsonObject,
  type FreedAddress,
  type JsonObject,
  type Labels,
  type Resource,
  type Tombstone,
} from '@causeway/resources';
import type { StoreChange } from '@causeway/store';
import type { ResourceRow } from '../database/entities';

/** Keeps one string of each text: kinds, meshes, zones and namespaces repeat in almost every row. */
export class StringInterner {
  private readonly known = new Map<string, string>();

  of(text: string): string {
    const same = this.known.get(text);
    if (same !== undefined) return same;
    this.known.set(text, text);
    return text;
  }
}

/** The fields that every resource has. */
type ResourceFacts = Omit<Resource, 'status' | 'graceStartedAt'>;

/** Makes a resource of its facts and its optional fields. The facts object becomes the resource: a copy would take more memory. */
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

/** Decodes the resource of a living row, in the given incarnation of the store. */
export function decodeResource(row: ResourceRow, incarnation: string, texts: StringInterner): Resource {
  const facts = {
    id: readIdentity(row, texts),
    uid: row.uid,
    labels: readLabels(row.labels),
    spec: readObject(row.spec) ?? {},
    generation: row.generation,
    creationOrder: row.creation_order,
    createdAt: row.created_at,
    modifiedAt: row.modified_at,
    revision: row.revision,
    origin: readOrigin(row, incarnation, texts),
    freed: readFreed(row.freed),
  };
  return resourceWith(facts, readObject(row.status), row.grace_started_at);
}

function readOrigin(row: ResourceRow, here: string, texts: StringInterner): Resource['origin'] {
  const incarnation = row.origin_incarnation === null ? here : texts.of(row.origin_incarnation);
  const { origin_revision: revision, origin_committed_at: committedAt, traceparent } = row;
  return traceparent ? { incarnation, revision, committedAt, traceparent } : { incarnation, revision, committedAt };
}

/** Decodes a row as a change of the log. */
export function decodeChange(row: ResourceRow, incarnation: string, texts: StringInterner): StoreChange {
  return row.deleted_at === null
    ? { type: 'put', resource: decodeResource(row, incarnation, texts) }
    : { type: 'delete', tombstone: decodeTombstone(row, texts) };
}

/** Decodes the tombstone of a deleted row. */
export function decodeTombstone(row: ResourceRow, texts: StringInterner): Tombstone {
  return {
    id: readIdentity(row, texts),
    revision: row.revision,
    deletedAt: row.deleted_at ?? 0,
    freed: readFreed(row.freed),
  };
}

function readIdentity(row: ResourceRow, texts: StringInterner): Resource['id'] {
  const { kind, mesh, zone, namespace, name } = row;
  return { kind: texts.of(kind), mesh: texts.of(mesh), zone: texts.of(zone), namespace: texts.of(namespace), name };
}

/*
 * The functions below read JSON columns into the shapes that the rest of the program relies on. This program always writes these shapes; a row that a
 * person, an older version or another tool wrote must not prevent a start. Valid values are returned as they are, without a copy.
 */

/** Reads labels: the string values of an object. */
function readLabels(column: unknown): Labels {
  if (!isJsonObject(column)) return {};
  return isTexts(column) ? column : readTexts(column);
}

/** Reads a spec or a status: an object, else undefined. */
function readObject(column: unknown): JsonObject | undefined {
  return isJsonObject(column) ? column : undefined;
}

/** Reads freed addresses: the entries of a list that have an address and a time. */
function readFreed(column: unknown): readonly FreedAddress[] {
  const list: readonly unknown[] = isJsonArray(column) ? column : [];
  return list.every(isFreed) ? list : list.filter(isFreed);
}

function readTexts(column: JsonObject): Labels {
  const texts: Record<string, string> = {};
  for (const [key, value] of Object.entries(column)) if (typeof value === 'string') texts[key] = value;
  return texts;
}

function isTexts(column: JsonObject): column is JsonObject & Labels {
  for (const key in column) if (typeof column[key] !== 'string') return false;
  return true;
}

function isFreed(value: unknown): value is FreedAddress {
  return isJsonObject(value) && typeof value['ip'] === 'string' && typeof value['at'] === 'number';
}
