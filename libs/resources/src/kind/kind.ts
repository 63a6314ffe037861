import type { Static, TSchema } from 'typebox';
import type { Resource } from '../resource';
import type { SyncRule } from './sync-rule';
import type { FieldPath, Violation } from '../violation';
import type { Violations } from '../violations';

/** What a validation that needs more than the spec may look at; never other resources. */
export interface Subject<Spec> {
  readonly name: string;
  readonly spec: Spec;
}

/** How large a resource of a kind may be, however it comes: by REST, by gRPC or from a peer (docs/reference/bounds.md). */
export interface KindBounds {
  /** Labels and spec together, as JSON in UTF-8. */
  readonly bytes: number;
  /** Number of labels, computed ones included. */
  readonly labels: number;
}

/** The bounds of kinds that name none. */
export const DEFAULT_BOUNDS: KindBounds = Object.freeze({ bytes: 256 * 1024, labels: 128 });

/** The one declaration from which REST, storage, sync, CLI and contract tests of a kind follow (design.md §1). */
export interface KindDefinition<S extends TSchema = TSchema> {
  /** `MeshService`: the `type` of documents. */
  readonly name: string;
  /** `meshservices`: the path on REST and the noun of the CLI. */
  readonly plural: string;
  /** `msvc`: the abbreviation in KRIs and on the command line. */
  readonly shortName: string;
  /** Other names that documents may give it (`XMesh`); it is always shown under its own. */
  readonly aliases: readonly string[];
  /** `apiVersion` of its Kubernetes form. */
  readonly apiVersion: string;
  readonly scope: 'global' | 'mesh';
  readonly namespaced: boolean;
  readonly sync: SyncRule;
  /** Who may write it where an operator token is set: anybody, or the operator (design.md §6). */
  readonly writer: 'anybody' | 'operator';
  /** Its values never appear in lists or logs. */
  readonly confidential: boolean;
  /** Beside these every list, text and map of the schema has a bound of its own. */
  readonly bounds: KindBounds;
  readonly spec: S;
  /** Spec fields the control plane computes: a user's PUT keeps the stored value. */
  readonly serverOwned: readonly string[];
  /** Spec fields that keep the value they were created with. */
  readonly immutable: readonly string[];
  /** Which names it takes; by default every RFC 1123 subdomain (design.md §1 Names). */
  readonly checkName: (name: string, at: FieldPath) => readonly Violation[];
  /** Rules a schema cannot say; sees only a spec that fits the schema. */
  readonly validate: (spec: Static<S>, at: FieldPath) => readonly Violation[];
  /** What is legal but most likely not meant. */
  readonly warn: (subject: Subject<Static<S>>) => readonly string[];
}

/** A kind with its types forgotten, as the registry and generic code hold it. */
export interface Kind {
  readonly name: string;
  readonly plural: string;
  readonly shortName: string;
  readonly aliases: readonly string[];
  readonly apiVersion: string;
  readonly scope: 'global' | 'mesh';
  readonly namespaced: boolean;
  readonly sync: SyncRule;
  readonly writer: 'anybody' | 'operator';
  readonly confidential: boolean;
  readonly bounds: KindBounds;
  readonly spec: TSchema;
  readonly serverOwned: readonly string[];
  readonly immutable: readonly string[];
  readonly checkName: (name: string, at: FieldPath) => readonly Violation[];
  /** What `spec` breaks of size, schema and rules; field paths start with `at`. Linear in the spec. */
  readonly check: (spec: unknown, at: FieldPath) => Violations;
  /**
   * The first place where `spec` has a wrong JSON type, or more items, entries or characters than the schema allows: what
   * is refused of a received spec too, which may break every other rule. Linear in the spec.
   */
  readonly shapeViolation: (spec: unknown, at: FieldPath) => Violation | undefined;
  /** Spec with the schema's defaults filled in; the input is not changed. */
  readonly withDefaults: (spec: unknown) => unknown;
  readonly warnings: (name: string, spec: unknown) => readonly string[];
}

/** A kind that still knows its spec's type. */
export interface TypedKind<Spec> extends Kind {
  /**
   * Narrows a resource of the store to this kind's spec. What has another JSON type than the schema is none, however it
   * came into the store; a required field may be missing, and null stand for absence, as the wire lets in.
   */
  readonly is: (resource: Resource<unknown, unknown>) => resource is Resource<Spec>;
}

/** The spec type of a kind. */
export type SpecOf<K> = K extends TypedKind<infer Spec> ? Spec : never;
