import {
  isJsonArray,
  isJsonObject,
  jsonEqual,
  shortened,
  withCondition,
  type Condition,
  type JsonObject,
  type JsonValue,
} from '@causeway/resources';

/** Maximum length of a message: a resource may have many parts that are not supported, each with its own text. */
const MAX_MESSAGE_LENGTH = 1_024;

/** The controller that writes the entries, and the time, ms since 1970. */
export interface StatusWriter {
  readonly controllerName: string;
  readonly now: number;
}

/** The conditions of one controller for one object that a resource refers to. */
export interface WantedEntry {
  readonly ref: JsonObject;
  readonly conditions: readonly Condition[];
}

/** A status list with entries of several controllers, one for each object that a resource refers to. */
export interface EntryList {
  /** The field of the status: `parents`, `ancestors`. */
  readonly field: string;
  /** The field of an entry that names the object: `parentRef`, `ancestorRef`. */
  readonly refField: string;
  /** Maximum number of entries of all controllers together. */
  readonly most: number;
}

/**
 * Returns `status` with updated entries of one controller; the same object if they are up to date. Entries of other controllers keep their content
 * and position. Own entries follow the order of `wanted`; entries of removed references are dropped. `lastTransitionTime` changes only with the
 * `status` of a condition. If there are too many entries, the last own ones are left out.
 */
export function withEntries(
  status: JsonObject,
  list: EntryList,
  wanted: readonly WantedEntry[],
  { controllerName, now }: StatusWriter,
): JsonObject {
  const stored = storedEntries(status, list);
  const own = stored.filter((entry) => isOwn(entry, controllerName));
  const room = Math.max(0, list.most - (stored.length - own.length));
  const entries = wanted.slice(0, room).map((each) => toEntry(each, list, own, { controllerName, now }));
  const next = inPlace(stored, entries, controllerName);
  if (jsonEqual(stored, next)) return status;
  const { [list.field]: _, ...rest } = status;
  return next.length > 0 ? { ...rest, [list.field]: next } : rest;
}

/** Returns the conditions that a controller wrote for a reference; empty if it wrote none. */
export function conditionsOfEntry(
  status: JsonObject,
  list: EntryList,
  ref: JsonObject,
  controllerName: string,
): readonly JsonObject[] {
  const entry = storedEntries(status, list).find(
    (each) => isOwn(each, controllerName) && isJsonObject(each) && jsonEqual(each[list.refField], ref),
  );
  const conditions = isJsonObject(entry) ? entry['conditions'] : undefined;
  return isJsonArray(conditions) ? conditions.filter(isJsonObject) : [];
}

function storedEntries(status: JsonObject, { field }: EntryList): readonly JsonValue[] {
  const entries = status[field];
  return isJsonArray(entries) ? entries : [];
}

function isOwn(entry: JsonValue, controllerName: string): boolean {
  return isJsonObject(entry) && entry['controllerName'] === controllerName;
}

/** Builds the entry of one reference from its stored entry. */
function toEntry(
  { ref, conditions }: WantedEntry,
  { refField }: EntryList,
  own: readonly JsonValue[],
  { controllerName, now }: StatusWriter,
): JsonObject {
  const stored = own.filter(isJsonObject).find((entry) => jsonEqual(entry[refField], ref));
  const types = conditions.map(({ type }) => type);
  const written = conditions
    .map((condition) => withShortMessage(condition))
    .reduce<JsonObject>((entry, condition) => withCondition(entry, condition, now), {
      conditions: keptConditions(stored, types),
    });
  return { [refField]: ref, controllerName, conditions: written['conditions'] ?? [] };
}

/** Returns a condition with a truncated message. */
export function withShortMessage(condition: Condition): Condition {
  return { ...condition, message: shortened(condition.message, MAX_MESSAGE_LENGTH, '…') };
}

/** Returns the stored conditions that are written again, with the time of their last transition. */
function keptConditions(stored: JsonObject | undefined, types: readonly string[]): readonly JsonValue[] {
  const before = stored?.['conditions'];
  const conditions = isJsonArray(before) ? before.filter(isJsonObject) : [];
  return conditions.filter(({ type }) => types.some((wanted) => wanted === type));
}

/** Places the new own entries at the positions of the old ones; further entries go to the end. */
function inPlace(stored: readonly JsonValue[], own: readonly JsonObject[], controllerName: string): JsonValue[] {
  const left = [...own];
  const placed = stored.flatMap((entry) => {
    if (!isOwn(entry, controllerName)) return [entry];
    const next = left.shift();
    return next ? [next] : [];
  });
  return [...placed, ...left];
}
