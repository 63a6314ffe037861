import type { Identity, JsonObject, Labels } from '@causeway/resources';
import type { SourceKind } from '../model';
import { GENERATED_FROM } from '../names';

/** An object that is to exist as it is here, as long as what it comes from says so. Its zone is that of what it comes from. */
export interface Generated {
  readonly id: Identity;
  /** Besides those that are computed. */
  readonly labels: Labels;
  readonly spec: JsonObject;
}

/** What is generated: its kind and name, and the kind of what it comes from. */
export interface Making {
  readonly kind: string;
  readonly name: string;
  readonly from: SourceKind;
}

/** An object that comes from `source`, in its mesh, zone and namespace. */
export function generated(
  { mesh, zone, namespace }: Identity,
  { kind, name, from }: Making,
  spec: JsonObject,
  labels: Labels = {},
): Generated {
  return { id: { kind, mesh, zone, namespace, name }, labels: { ...labels, [GENERATED_FROM]: from }, spec };
}

/** A policy of the shipped kinds on one target. */
export function policyOf(source: Identity, making: Making, target: JsonObject, spec: JsonObject): Generated {
  return generated(source, making, { targetRefs: [target], ...spec });
}

/** True for what is generated here. */
export const isGeneratedFrom = (labels: Labels): boolean => Object.hasOwn(labels, GENERATED_FROM);
