import type { Static, TSchema } from 'typebox';
import type { JsonObject } from '@causeway/resources';
import type { DeclaredTarget } from '../model/definition';
import type { Level, MergeStrategy } from '../model/levels';

/**
 * Enforcers of policies: Envoy by our xDS; the builtin proxy; connections that the kernel redirects itself; clients of
 * gRPC without a proxy; the proxies of Kuma's zones; the egress of a zone.
 */
export const dataplaneModes = ['envoy', 'builtin', 'direct', 'grpc', 'kuma-dp', 'egress'] as const;
export type DataplaneMode = (typeof dataplaneModes)[number];

/** Part of a spec that a dataplane mode cannot enforce: the field as a JSON pointer, empty for all of it, and why. */
export interface UnsupportedField {
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
  /** Strategies that merge policies of several levels. */
  readonly mergeStrategies: readonly MergeStrategy[];
  /** Whether a policy may name what is in another namespace: `ClientSide` changes what its own namespace's clients do only. */
  readonly crossNamespace: 'Forbidden' | 'ClientSide';
  /** Proxies that enforce it: those of the callers, or those before the instances of a service. */
  readonly at: 'client' | 'server';
  /** Writer of instances; the owner of the namespace if absent. */
  readonly writer?: 'owner' | 'operator';
  /**
   * Of the spec proper, which all instances fit. Two specs that fit must fit when one is merged into the other (T004-23), so nothing
   * in it excludes anything else.
   */
  readonly schema: S;
  /** The spec of an effective policy by its type; undefined if it does not fit, as an older or newer zone may have written it. */
  readonly read: (spec: JsonObject) => Static<S> | undefined;
  /**
   * Returns the parts of an effective spec that a dataplane mode does not support; empty if it supports all. Pure;
   * linear in the spec.
   */
  readonly unsupported: (plane: DataplaneMode, spec: Static<S>) => readonly UnsupportedField[];
}

/** The group of the kinds that are shipped. */
export const SHIPPED_GROUP = 'policies.causeway.io';
