import type { Identity, JsonObject, LabelSelector, Resource, Violation, ResourceKey } from '@causeway/resources';
import { compareText } from '@causeway/resources';
import { tracedSpec, type Branch } from './traced';
import type { Level, Strategy } from './levels';

/** The fields of a policy's spec that belong to the engine; all others are the spec proper. */
export const RESERVED_FIELDS = ['targetRefs', 'targetRef', 'defaults', 'overrides', 'strategy'] as const;

/** A stored policy: the part of a resource that the engine reads. `creationOrder` 0 is unknown and ranks last. */
export type StoredPolicy = Pick<Resource, 'id' | 'creationOrder' | 'generation' | 'spec'>;

/** Target of a policy: objects by name, by labels, or a section of them; defaults are filled in. */
export interface TargetRef {
  readonly group: string;
  readonly kind: string;
  /** Namespace of the target; the policy's own unless the reference names one. Empty for a Mesh and a Namespace. */
  readonly namespace: string;
  /** Either a name or a selector. */
  readonly name?: string;
  readonly selector?: LabelSelector;
  readonly sectionName?: string;
  /** The level of what is named; undefined for virtual kinds. */
  readonly level: Level | undefined;
}

/** A policy as the engine uses it. One whose spec breaks a rule has no targets and takes no effect. */
export interface Policy {
  readonly key: ResourceKey;
  readonly id: Identity;
  readonly creationOrder: number;
  readonly generation: number;
  readonly strategy: Strategy;
  readonly targetRefs: readonly TargetRef[];
  /** The spec proper. */
  readonly spec: JsonObject;
  /** The spec proper with what set each of its values. */
  readonly traced: Branch<Policy>;
  /** Number of values that the spec proper sets: leaves, lists as a whole. */
  readonly leaves: number;
  /** Violation because of which it is not accepted, reason `Invalid`. */
  readonly violation?: Violation;
}

/** Makes the policy whose values carry it as their source. */
export function createPolicy(own: Omit<Policy, 'traced' | 'leaves'>): Policy {
  const policy = { ...own, traced: EMPTY, leaves: 0 };
  const { root, leaves } = tracedSpec(own.spec, policy);
  return Object.assign(policy, { traced: root, leaves });
}

const EMPTY: Branch<Policy> = { fields: new Map() };

/**
 * Below 0 if `a` ranks higher among policies on one object: the older, ties by `namespace/name`, then by the zone of origin (T004-22).
 * What ranks higher dictates its strategy (T004-23).
 */
export function comparePolicies(a: Policy, b: Policy): number {
  return (
    computeOrder(a) - computeOrder(b) ||
    compareText(`${a.id.namespace}/${a.id.name}`, `${b.id.namespace}/${b.id.name}`) ||
    compareText(a.id.zone, b.id.zone)
  );
}

const computeOrder = ({ creationOrder }: Policy): number => creationOrder || Number.MAX_SAFE_INTEGER;
