import { isLabelValue, Label, type Identity, type JsonObject, type Labels } from '@causeway/resources';
import type { SourceKind } from '../model';

/** An object that is to exist as it is here, as long as what it comes from says so. Its zone is that of what it comes from. */
export interface Generated {
  readonly id: Identity;
  /** Besides those that are computed. */
  readonly labels: Labels;
  readonly spec: JsonObject;
}

/** A generated resource: its kind and name, and the kind of its source. */
export interface Making {
  readonly kind: string;
  readonly name: string;
  readonly from: SourceKind;
}

/** An object that comes from `source`, in its mesh, zone and namespace. */
export function generated(
  { mesh, zone, namespace, name: source }: Identity,
  { kind, name, from }: Making,
  spec: JsonObject,
  labels: Labels = {},
): Generated {
  const origin = { [Label.generatedFrom]: from, ...(isLabelValue(source) && { [Label.generatedFromName]: source }) };
  return { id: { kind, mesh, zone, namespace, name }, labels: { ...labels, ...origin }, spec };
}

/** A policy of the shipped kinds on one target. */
export function generatePolicy(source: Identity, making: Making, target: JsonObject, spec: JsonObject): Generated {
  return generated(source, making, { targetRefs: [target], ...spec });
}
