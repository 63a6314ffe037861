import type { Static, TSchema } from 'typebox';
import type { JsonObject } from '@causeway/resources';
import type { DeclaredTarget } from '../model/definition';
import type { Level, MergeStrategy } from '../model/levels';

/**
 * What obeys policies: Envoy by our xDS; the builtin proxy; connections that the kernel leads itself; clients of gRPC without a
 * proxy; the proxies of Kuma's zones; the egress of a zone.
 */
export const planes = ['envoy', 'builtin', 'direct', 'grpc', 'kuma-dp', 'egress'] as const;
export type Plane = (typeof planes)[number];

/** What of a spec a plane cannot enforce: the field as a JSON pointer, empty for all of it, and why. */
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
  /** How policies of several levels become one. */
  readonly mergeStrategies: readonly MergeStrategy[];
  /** Whether a policy may name what is in another namespace: `ClientSide` changes what its own namespace's clients do only. */
  readonly crossNamespace: 'Forbidden' | 'ClientSide';
  /** Whose proxies enforce it: those of the callers, or those before the instances of a service. */
  readonly at: 'client' | 'server';
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
  readonly unsupported: (plane: Plane, spec: Static<S>) => readonly UnsupportedField[];
}

/** The group of the kinds that are shipped. */
export const SHIPPED_GROUP = 'policies.causeway.io';
