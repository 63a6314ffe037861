import type { Static, TSchema } from 'typebox';
import type { JsonObject } from '@causeway/resources';
import type { DeclaredTarget } from '../model/definition';
import type { Level, MergeStrategy } from '../model/levels';

/**
 * Dataplane modes that enforce policies: Envoy by our xDS; the builtin proxy; connections redirected by the kernel;
 * proxyless gRPC clients; proxies of Kuma zones; the egress of a zone.
 */
export const dataplaneModes = ['envoy', 'builtin', 'direct', 'grpc', 'kuma-dp', 'egress'] as const;
export type DataplaneMode = (typeof dataplaneModes)[number];

/** Part of a spec that a dataplane mode cannot enforce: the field as a JSON pointer, empty for the whole spec, and the reason. */
export interface UnsupportedField {
  readonly field: string;
  readonly reason: string;
}

/** A kind of policy that Causeway includes and enforces: the spec of its MetaresourceDefinition, and what each dataplane mode supports. */
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
  /** Whether a policy may target another namespace: `ClientSide` changes only clients of its own namespace. */
  readonly crossNamespace: 'Forbidden' | 'ClientSide';
  /** Proxies that enforce it: those of the callers, or those before the instances of a service. */
  readonly at: 'client' | 'server';
  /** Writer of instances; the owner of the namespace if absent. */
  readonly writer?: 'owner' | 'operator';
  /**
   * Schema of the spec proper of all instances. Two valid specs must stay valid when merged (T004-23), so no field
   * excludes another.
   */
  readonly schema: S;
  /** Returns the typed spec of an effective policy; undefined if it does not match, as an older or newer zone may have written it. */
  readonly read: (spec: JsonObject) => Static<S> | undefined;
  /**
   * Returns the parts of an effective spec that a dataplane mode does not support; empty if it supports all. Pure;
   * linear in the spec.
   */
  readonly unsupported: (plane: DataplaneMode, spec: Static<S>) => readonly UnsupportedField[];
}

/** The group of the shipped kinds. */
export const SHIPPED_GROUP = 'policies.causeway.io';
