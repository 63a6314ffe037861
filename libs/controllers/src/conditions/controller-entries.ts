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

/** Most characters of a message: a resource may have many parts that are not obeyed, each with a text of its own. */
const MAX_MESSAGE_LENGTH = 1_024;

/** The controller whose entries a plan writes, and the time, ms since 1970. */
export interface StatusWriter {
  readonly controllerName: string;
  readonly now: number;
}

/** Conditions of one controller on one object that a resource refers to. */
export interface WantedEntry {
  readonly ref: JsonObject;
  readonly conditions: readonly Condition[];
}

/** A list in a status with entries of several controllers, one for each object that a resource refers to. */
export interface EntryList {
  /** The field of the status: `parents`, `ancestors`. */
  readonly field: string;
  /** The field of an entry that names the object: `parentRef`, `ancestorRef`. */
  readonly refField: string;
  /** Most entries, of all controllers together. */
  readonly most: number;
}

/**
 * `status` with the entries of one controller brought up to date; the same object where they are. Entries of other controllers stay as
 * they are, each at its place. Own entries stand in the order of `wanted`; those of vanished references go. `lastTransitionTime` changes
 * only with `status` of a condition. Where all entries together are too many, the last own ones are left out.
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

/** The conditions that a controller wrote for a reference; empty where it wrote none. */
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

/** The entry of one reference, made from the stored one of the same reference. */
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

/** A condition whose message has a bound. */
export function withShortMessage(condition: Condition): Condition {
  return { ...condition, message: shortened(condition.message, MAX_MESSAGE_LENGTH, '…') };
}

/** The stored conditions that are written again, for the time of their last transition. */
function keptConditions(stored: JsonObject | undefined, types: readonly string[]): readonly JsonValue[] {
  const before = stored?.['conditions'];
  const conditions = isJsonArray(before) ? before.filter(isJsonObject) : [];
  return conditions.filter(({ type }) => types.some((wanted) => wanted === type));
}

/** Own entries take the places of the own ones before them; what is left over goes to the end. */
function inPlace(stored: readonly JsonValue[], own: readonly JsonObject[], controllerName: string): JsonValue[] {
  const left = [...own];
  const placed = stored.flatMap((entry) => {
    if (!isOwn(entry, controllerName)) return [entry];
    const next = left.shift();
    return next ? [next] : [];
  });
  return [...placed, ...left];
}
