import type { Identity, JsonObject, LabelSelector, Resource, Violation, ResourceKey } from '@causeway/resources';
import { compareText } from '@causeway/resources';
import { tracedSpec, type Branch } from './traced';
import type { Level, Strategy } from './levels';

/** Fields of a policy's spec that the engine reads; all others are the payload (the "spec proper"). */
export const RESERVED_FIELDS = ['targetRefs', 'targetRef', 'defaults', 'overrides', 'strategy'] as const;

/** A stored policy: the part of a resource that the engine reads. `creationOrder` 0 is unknown and ranks last. */
export type StoredPolicy = Pick<Resource, 'id' | 'creationOrder' | 'generation' | 'spec'>;

/** Target of a policy: objects by name, by labels, or a section of them; defaults are filled in. */
export interface TargetRef {
  readonly group: string;
  readonly kind: string;
  /** Namespace of the target; defaults to the policy's own. Empty for a Mesh and a Namespace. */
  readonly namespace: string;
  /** Either a name or a selector. */
  readonly name?: string;
  readonly selector?: LabelSelector;
  readonly sectionName?: string;
  /** The level of the target; undefined for virtual kinds. */
  readonly level: Level | undefined;
}

/** A policy as the engine uses it. A policy whose spec breaks a rule has no targets and takes no effect. */
export interface Policy {
  readonly key: ResourceKey;
  readonly id: Identity;
  readonly creationOrder: number;
  readonly generation: number;
  readonly strategy: Strategy;
  readonly targetRefs: readonly TargetRef[];
  /** The spec proper. */
  readonly spec: JsonObject;
  /** The spec proper with the source of each value. */
  readonly traced: Branch<Policy>;
  /** Number of values that the spec proper sets; a list counts as one. */
  readonly leaves: number;
  /** The violation for which it is not accepted, with reason `Invalid`. */
  readonly violation?: Violation;
}

/** Creates a policy; its values carry it as their source. */
export function createPolicy(own: Omit<Policy, 'traced' | 'leaves'>): Policy {
  const policy = { ...own, traced: EMPTY, leaves: 0 };
  const { root, leaves } = tracedSpec(own.spec, policy);
  return Object.assign(policy, { traced: root, leaves });
}

const EMPTY: Branch<Policy> = { fields: new Map() };

/**
 * Returns a number below 0 if `a` ranks higher among policies on one object: the older, ties by `namespace/name`, then
 * by the zone of origin (T004-22). The strategy of the higher-ranking policy applies (T004-23).
 */
export function comparePolicies(a: Policy, b: Policy): number {
  return (
    computeOrder(a) - computeOrder(b) ||
    compareText(`${a.id.namespace}/${a.id.name}`, `${b.id.namespace}/${b.id.name}`) ||
    compareText(a.id.zone, b.id.zone)
  );
}

const computeOrder = ({ creationOrder }: Policy): number => creationOrder || Number.MAX_SAFE_INTEGER;
