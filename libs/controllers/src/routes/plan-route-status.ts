import {
  isJsonArray,
  isJsonObject,
  jsonEqual,
  shortened,
  withCondition,
  type Condition,
  type JsonObject,
  type JsonValue,
  type Resource,
} from '@causeway/resources';
import type { ParentStatus } from '@causeway/routing';
import type { PatchChange } from '@causeway/store';

/** Most entries of `status.parents`, of all controllers together (Gateway API, RouteStatus). */
const MOST_PARENTS = 32;
/** Most characters of a message: a route may have 16 rules that are not obeyed, each with a text of its own. */
const LONGEST_MESSAGE = 1_024;

/** Whose entries a plan writes, and when it is, ms since 1970. */
export interface StatusWriter {
  readonly controllerName: string;
  readonly now: number;
}

/**
 * The patch that brings the entries of one controller in `status.parents` of a route up to date; undefined where they are
 * (T002-04, T002-48). Entries of other controllers stay as they are, each at its place. Own entries stand in the order of
 * `wanted`; those of vanished parentRefs go. `lastTransitionTime` changes only with `status` of a condition. Where all
 * entries together are more than 32, the last own ones are left out.
 */
export function planRouteStatus(
  { id, revision, status: before = {} }: Resource,
  wanted: readonly ParentStatus[],
  { controllerName, now }: StatusWriter,
): PatchChange | undefined {
  const stored = storedParents(before);
  const own = stored.filter((entry) => isOwn(entry, controllerName));
  const room = Math.max(0, MOST_PARENTS - (stored.length - own.length));
  const entries = wanted.slice(0, room).map((parent) => parentEntry(parent, own, { controllerName, now }));
  const parents = inPlace(stored, entries, controllerName);
  if (jsonEqual(stored, parents)) return undefined;
  const { parents: _, ...rest } = before;
  return { type: 'patch', id, expect: revision, status: parents.length > 0 ? { ...rest, parents } : rest };
}

/** The conditions that a controller wrote for a parentRef in the form of `parentStatuses`; empty where it wrote none. */
export function storedConditions(
  { status = {} }: Pick<Resource, 'status'>,
  parentRef: ParentStatus['parentRef'],
  controllerName: string,
): readonly JsonObject[] {
  const entry = storedParents(status).find(
    (each) => isOwn(each, controllerName) && isJsonObject(each) && jsonEqual(each['parentRef'], { ...parentRef }),
  );
  const conditions = isJsonObject(entry) ? entry['conditions'] : undefined;
  return isJsonArray(conditions) ? conditions.filter(isJsonObject) : [];
}

function storedParents(status: JsonObject): readonly JsonValue[] {
  const { parents } = status;
  return isJsonArray(parents) ? parents : [];
}

function isOwn(entry: JsonValue, controllerName: string): boolean {
  return isJsonObject(entry) && entry['controllerName'] === controllerName;
}

/** The entry of one parent, made from the stored one of the same parentRef. */
function parentEntry(
  { parentRef: ref, conditions }: ParentStatus,
  own: readonly JsonValue[],
  { controllerName, now }: StatusWriter,
): JsonObject {
  const parentRef: JsonObject = { ...ref };
  const stored = own.filter(isJsonObject).find((entry) => jsonEqual(entry['parentRef'], parentRef));
  const types = conditions.map(({ type }) => type);
  const written = conditions
    .map((condition): Condition => ({ ...condition, message: shortened(condition.message, LONGEST_MESSAGE, '…') }))
    .reduce<JsonObject>((entry, condition) => withCondition(entry, condition, now), {
      conditions: keptConditions(stored, types),
    });
  return { parentRef, controllerName, conditions: written['conditions'] ?? [] };
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
