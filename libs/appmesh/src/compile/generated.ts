import { isLabelValue, Label, type Identity, type JsonObject, type Labels } from '@causeway/resources';
import type { SourceKind } from '../model';

/** An object that must exist in this form as long as its source requires it. Its zone is that of the source. */
export interface Generated {
  readonly id: Identity;
  /** Labels besides the computed ones. */
  readonly labels: Labels;
  readonly spec: JsonObject;
}

/** A generated resource: its kind and name, and the kind of its source. */
export interface GeneratedIdentity {
  readonly kind: string;
  readonly name: string;
  readonly from: SourceKind;
}

/** Returns an object generated from `source`, in its mesh, zone and namespace. */
export function buildGenerated(
  { mesh, zone, namespace, name: source }: Identity,
  { kind, name, from }: GeneratedIdentity,
  spec: JsonObject,
  labels: Labels = {},
): Generated {
  const origin = { [Label.generatedFrom]: from, ...(isLabelValue(source) && { [Label.generatedFromName]: source }) };
  return { id: { kind, mesh, zone, namespace, name }, labels: { ...labels, ...origin }, spec };
}

/** Returns a policy of a shipped kind with one target. */
export function generatePolicy(
  source: Identity,
  making: GeneratedIdentity,
  target: JsonObject,
  spec: JsonObject,
): Generated {
  return buildGenerated(source, making, { targetRefs: [target], ...spec });
}
