import type { Static, TSchema } from 'typebox';
import type { JsonObject } from '@causeway/resources';

/**
 * What obeys policies: Envoy by our xDS; the builtin proxy; connections that the kernel leads itself; clients of gRPC without a
 * proxy; the proxies of Kuma's zones.
 */
export const planes = ['envoy', 'builtin', 'direct', 'grpc', 'kuma-dp'] as const;
export type Plane = (typeof planes)[number];

/** The levels of the graph of targets, the least specific first (docs/plans/policies.md, Decisions). */
export const levels = [
  'Mesh',
  'Namespace',
  'Gateway',
  'Listener',
  'Service',
  'ServicePort',
  'Route',
  'Rule',
  'Backend',
  'BackendPort',
] as const;
export type Level = (typeof levels)[number];

/** Who wins, the general or the special policy, and whether whole or field by field (T004-20 to T004-27). */
export const mergeStrategies = ['AtomicDefaults', 'AtomicOverrides', 'PatchDefaults', 'PatchOverrides'] as const;
export type MergeStrategy = (typeof mergeStrategies)[number];

/** A kind of object that a policy may name; `facet` tells what of a service it means. */
export interface DeclaredTarget {
  readonly kind: string;
  readonly group?: string;
  readonly facet?: 'frontend' | 'backend';
  /** What the policy means there, in words (T004-12). */
  readonly semantics: string;
}

/** What of a spec a plane cannot enforce: the field as a JSON pointer, empty for all of it, and why. */
export interface Unable {
  readonly field: string;
  readonly reason: string;
}

/** A kind of policy that Causeway brings and enforces: the spec of its MetaresourceDefinition, and what each plane can do of it. */
export interface ShippedPolicy<S extends TSchema = TSchema> {
  readonly kind: string;
  readonly plural: string;
  readonly shortName: string;
  readonly description: string;
  readonly hierarchy: readonly Level[];
  readonly declaredTargets: readonly DeclaredTarget[];
  readonly effectiveTarget: { readonly level: Level; readonly semantics: string };
  /** How policies of several levels become one. */
  readonly mergeStrategies: readonly MergeStrategy[];
  /** Whether a policy may name what is in another namespace: `ClientSide` changes what its own namespace's clients do only. */
  readonly crossNamespace: 'Forbidden' | 'ClientSide';
  /** Who writes instances; the owner of the namespace where it is absent. */
  readonly writer?: 'owner' | 'operator';
  /**
   * Of the spec proper, which all instances fit. Two specs that fit must fit when one is merged into the other (T004-23), so nothing
   * in it excludes anything else.
   */
  readonly schema: S;
  /** The spec of an effective policy by its type; undefined where it does not fit, as an older or newer zone may have written it. */
  readonly read: (spec: JsonObject) => Static<S> | undefined;
  /** What of an effective spec a plane does not do; empty where it does everything. Pure; linear in the spec. */
  readonly unable: (plane: Plane, spec: Static<S>) => readonly Unable[];
}

/** The group of the kinds that are shipped. */
export const SHIPPED_GROUP = 'policies.causeway.io';
