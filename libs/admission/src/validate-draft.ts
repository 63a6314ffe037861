import {
  checkComputedLabels,
  checkLabels,
  computedLabels,
  FieldPath,
  isComputedLabel,
  isJsonObject,
  ownZone,
  shortened,
  type ControlPlane,
  type Identity,
  type JsonObject,
  type JsonValue,
  type Labels,
  type Resource,
  Violations,
  type Violation,
} from '@causeway/resources';
import { draftIdentity, type DecodedDocument } from './document/document';

/** A document as it will be stored, with all that speaks against it. */
export interface ValidatedDraft {
  readonly id: Identity;
  readonly labels: Labels;
  /** With defaults, without what only the control plane writes. */
  readonly spec: JsonObject;
  readonly violations: Violations;
  readonly warnings: readonly string[];
}

/** Fills defaults and labels in and checks everything that needs no other resource. Pure. */
export function validateDraft(decoded: DecodedDocument, cp: ControlPlane): ValidatedDraft {
  const { draft, labelsAt } = decoded;
  const { kind } = draft;
  const id = draftIdentity(draft, ownZone(cp));
  const filled = kind.withDefaults(without(draft.spec, kind.serverOwned));
  const computed = computedLabels(kind, id, cp);
  const own = Object.entries(draft.labels).filter(([key]) => !isComputedLabel(key));
  const labels = { ...Object.fromEntries(own), ...computed };
  const clashes = checkComputedLabels(draft.labels, computed, labelsAt);
  const violations = new Violations();
  violations.merge(decoded.violations);
  violations.addAll(clashes);
  violations.addAll(checkLabels(clashes.length === 0 ? labels : Object.fromEntries(own), labelsAt));
  violations.merge(kind.check(filled, FieldPath.at('spec')));
  return {
    id,
    labels,
    spec: isJsonObject(filled) ? filled : {},
    violations,
    warnings: [...decoded.warnings, ...kind.warnings(id.name, filled)],
  };
}

/** Where an update would change what keeps its first value (GEP-3949: `controllerName`). */
export function checkImmutable(fields: readonly string[], next: JsonObject, stored: Resource | undefined): Violation[] {
  if (!stored) return [];
  return fields.flatMap((field) => {
    const was = stored.spec[field];
    if (was === undefined || was === next[field]) return [];
    return [
      FieldPath.at('spec')
        .field(field)
        .violation(`cannot be changed once set; it is ${show(was)}, got ${show(next[field])}`),
    ];
  });
}

/** The spec to store: the user's, and the server-owned fields as they are stored (design.md §1). */
export function withServerOwned(spec: JsonObject, fields: readonly string[], stored: Resource | undefined): JsonObject {
  if (!stored || fields.length === 0) return spec;
  const kept = fields.flatMap((field) =>
    stored.spec[field] === undefined ? [] : [[field, stored.spec[field]] as const],
  );
  return { ...spec, ...Object.fromEntries(kept) };
}

function without(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}

function show(value: JsonValue | undefined): string {
  return value === undefined ? 'nothing' : shortened(JSON.stringify(value), 80);
}
