import {
  FieldPath,
  Invalid,
  isJsonObject,
  jsonEqual,
  Label,
  ownField,
  shortened,
  type JsonObject,
  type JsonValue,
  type Kind,
  type Labels,
  type Resource,
  type Violation,
} from '@causeway/resources';
import { formatEtag, type WriteOutcome } from './requests';
import type { ValidatedDraft } from './validate-draft';

/**
 * Plans writing `draft` over the stored resource: nothing, an update or a creation. `owned` are server-owned fields
 * that this write sets; others stay as they are stored. Throws Invalid if it changes an immutable field. Pure; `etag`
 * is absent unless the outcome is `unchanged`.
 */
export function planWrite(
  kind: Pick<Kind, 'immutable' | 'derive' | 'serverOwned'>,
  draft: ValidatedDraft,
  stored: Resource | undefined,
  owned?: JsonObject,
): WriteOutcome {
  const { id, labels, warnings } = draft;
  const frozen = stored ? checkImmutable(kind, draft, stored) : [];
  if (frozen.length > 0) throw new Invalid(frozen);
  const spec = withServerOwned(draft.spec, kind.serverOwned, { ...stored?.spec, ...owned });
  const result = { id, labels, spec, warnings, revision: stored?.revision ?? 0 };
  if (stored && jsonEqual(stored.labels, labels) && jsonEqual(stored.spec, spec)) {
    return { ...result, outcome: 'unchanged', etag: formatEtag(stored) };
  }
  const all = [...warnings, ...managedByWarnings(stored, labels)];
  return { ...result, warnings: all, outcome: stored ? 'updated' : 'created' };
}

/**
 * Returns violations if an update changes a field that keeps its first value (GEP-3949: `controllerName`), or sets a
 * field with a derived value to another one (App Mesh: `awsName`, in its controller's wording).
 */
function checkImmutable(
  { immutable, derive }: Pick<Kind, 'immutable' | 'derive'>,
  { id, spec }: ValidatedDraft,
  stored: Resource,
): Violation[] {
  const derived = derive({ ...id, spec: stored.spec });
  const before = { ...stored.spec, ...derived };
  const after = { ...spec, ...derive({ ...id, spec }) };
  return immutable.flatMap((field) => {
    const [was, next] = [before[field], after[field]];
    if (was === undefined || was === next) return [];
    const at = FieldPath.at('spec').field(field);
    const rule = Object.hasOwn(derived, field)
      ? `update may not change these fields: ${at.toString()}`
      : 'cannot be changed once set';
    return [at.violation(`${rule}; it is ${show(was)}, got ${show(next)}`)];
  });
}

/** Returns the spec to store: the user's, with server-owned fields from `owned` (docs/design.md §1). */
function withServerOwned(spec: JsonObject, fields: readonly string[], owned: JsonObject): JsonObject {
  const kept = fields.flatMap((field) => (owned[field] === undefined ? [] : [[field, owned[field]] as const]));
  if (kept.length === 0) return spec;
  return { ...spec, ...Object.fromEntries(kept) };
}

/** Warns a user who overwrites a resource that a controller created; the warning names the owner from now on. */
function managedByWarnings(stored: Resource | undefined, labels: Labels): readonly string[] {
  const maker = stored?.labels[Label.managedBy];
  if (stored === undefined || maker === undefined) return [];
  const what = `${stored.id.kind} "${stored.id.name}"`;
  if (labels[Label.managedBy] === maker)
    return [
      `${what} is made by ${maker}, which will write over what you changed; leave out the label ${Label.managedBy} to take it over`,
    ];
  return [
    `${what} was made by ${maker} and is yours from now on: it no longer follows its Dataplanes and stays when they go; delete it to have it made anew`,
  ];
}

function show(value: JsonValue | undefined): string {
  return value === undefined ? 'nothing' : shortened(JSON.stringify(value), 80);
}

/** Merge patch (RFC 7386): `null` removes a field, objects merge, every other value replaces. */
export function mergePatch(target: JsonValue | undefined, patch: JsonObject): JsonObject {
  const base = isJsonObject(target) ? target : {};
  const kept = Object.entries(base).filter(([key]) => !Object.hasOwn(patch, key));
  const changed = Object.entries(patch).flatMap(([key, value]): [string, JsonValue][] => {
    if (value === null || value === undefined) return [];
    return [[key, isJsonObject(value) ? mergePatch(ownField(base, key), value) : value]];
  });
  return Object.fromEntries([...kept, ...changed]);
}
