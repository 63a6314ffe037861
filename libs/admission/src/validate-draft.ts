import {
  checkComputedLabels,
  checkLabels,
  computedLabels,
  FieldPath,
  isComputedLabel,
  isJsonObject,
  ownZone,
  Violations,
  type ControlPlane,
  type Identity,
  type JsonObject,
  type Labels,
} from '@causeway/resources';
import { draftIdentity, type DecodedDocument } from './document/document';

/** A document as it will be stored, with all its violations. */
export interface ValidatedDraft {
  readonly id: Identity;
  readonly labels: Labels;
  /** With defaults, without the fields that only the control plane writes. */
  readonly spec: JsonObject;
  readonly violations: Violations;
  readonly warnings: readonly string[];
}

/** Default spec fields that a control plane adds to documents, by kind. */
export type ConfiguredFields = Readonly<Record<string, JsonObject>>;

/** Adds configured defaults, then defaults, then labels, and checks every rule that needs no other resource. Pure. */
export function validateDraft(
  decoded: DecodedDocument,
  cp: ControlPlane,
  configured: ConfiguredFields = {},
): ValidatedDraft {
  const { draft, labelsAt } = decoded;
  const { kind } = draft;
  const id = draftIdentity(draft, ownZone(cp));
  const filled = kind.withDefaults({ ...configured[kind.name], ...without(draft.spec, kind.serverOwned) });
  const computed = computedLabels(kind, id, cp);
  const own = Object.entries(draft.labels).filter(([key]) => !isComputedLabel(key));
  const labels = { ...Object.fromEntries(own), ...computed };
  const clashes = checkComputedLabels(draft.labels, computed, labelsAt);
  const violations = new Violations();
  violations.merge(decoded.violations);
  violations.addAll(clashes);
  violations.addAll(checkLabels(clashes.length === 0 ? labels : Object.fromEntries(own), labelsAt));
  violations.merge(kind.checkAt(id, filled, FieldPath.at('spec')));
  return {
    id,
    labels,
    spec: isJsonObject(filled) ? filled : {},
    violations,
    warnings: [...decoded.warnings, ...kind.warnings(id.name, filled)],
  };
}

function without(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}
