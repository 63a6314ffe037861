import type { Static, TSchema } from 'typebox';
import type { Identity } from '../identity';
import type { JsonObject } from '../json';
import type { Resource } from '../resource';
import type { SyncRule } from './sync-rule';
import type { FieldPath, Violation, Violations } from '../violation';

/** Input of `warn`; never other resources. */
interface WarnSubject<Spec> {
  readonly name: string;
  readonly spec: Spec;
}

/** Input of `derive`; never other resources. Mesh and namespace are empty for kinds without them. */
interface DerivedFrom extends WarnSubject<JsonObject>, Pick<Identity, 'mesh' | 'namespace'> {}

/** Maximum size of a resource of a kind, on REST, gRPC and sync (docs/reference/bounds.md). */
export interface KindBounds {
  /** Size of labels and spec together, bytes of JSON in UTF-8. */
  readonly bytes: number;
  /** Number of labels, computed ones included. */
  readonly labels: number;
}

/** Bounds of kinds that set none. */
export const DEFAULT_BOUNDS: KindBounds = Object.freeze({ bytes: 256 * 1024, labels: 128 });

/** Another name of a kind that documents, paths and commands may use (row T000-02). */
export interface KindAlias {
  /** `XMesh`: the `type` or `kind` of its documents. */
  readonly name: string;
  /** `xmeshes`: its path on REST, and a noun. */
  readonly plural: string;
  /** `apiVersion` of its Kubernetes form. */
  readonly apiVersion: string;
  /** Spec fields that its documents must have, although optional under the kind's own name. */
  readonly required: readonly string[];
}

/** The declaration that defines REST, storage, sync, CLI and contract tests of a kind (docs/design.md §1). */
export interface KindDefinition<S extends TSchema = TSchema> {
  /** `MeshService`: the `type` of documents, and part of each identity. A second kind with the same name has its group appended. */
  readonly name: string;
  /** The `kind` of its Kubernetes form: the name, without a group. */
  readonly bareName: string;
  /** `meshservices`: the path on REST and the noun of the CLI. */
  readonly plural: string;
  /** `msvc`: the abbreviation in KRIs and on the command line. */
  readonly shortName: string;
  /** Other names. Output uses `name`, except in the Kubernetes form if a request uses the alias. */
  readonly aliases: readonly KindAlias[];
  /** Preferred `apiVersion` of its Kubernetes form. */
  readonly apiVersion: string;
  /** Groups that its documents may have besides the one of `apiVersion`, each with the versions of `apiGroups`. */
  readonly otherGroups: readonly string[];
  readonly scope: 'global' | 'mesh';
  /**
   * Source of the mesh of a new resource. `user`: document, path or default, which must agree with a mesh that selects the
   * namespace. `namespace`: the one mesh that selects the namespace, whatever the document contains (T003-24, T003-25).
   */
  readonly meshFrom: 'user' | 'namespace';
  readonly namespaced: boolean;
  readonly sync: SyncRule;
  /** Lowest built-in role that may write it: service owner, operator of the mesh, administrator (docs/design.md §6 Roles). */
  readonly writer: Writer;
  /** MetaresourceDefinition that declares it; empty for built-in kinds. */
  readonly declaredBy: string;
  /** Whether its values are hidden in lists and logs. */
  readonly confidential: boolean;
  /** Bounds of the whole resource; every list, text and map of the schema has its own bound besides. */
  readonly bounds: KindBounds;
  readonly spec: S;
  /** Spec fields that the control plane computes: a user's PUT keeps the stored value. */
  readonly serverOwned: readonly string[];
  /** Spec fields that keep their first value, or that of the derived status field with the same name. */
  readonly immutable: readonly string[];
  /**
   * Derives status fields from identity and stored spec, which may break rules if it was synced (row T003-04). Readers
   * see them; they are never stored or sent to peers.
   */
  readonly derive: (subject: DerivedFrom) => JsonObject;
  /** Types of conditions that are Unknown with reason Pending until a controller writes them (row T000-25). */
  readonly pending: readonly string[];
  /** Returns violations of the rule for names; by default RFC 1123 subdomains (docs/design.md §1, Names). */
  readonly checkName: (name: string, at: FieldPath) => readonly Violation[];
  /** Returns violations of rules that a schema cannot express. Called only with a spec that fits the schema. */
  readonly validate: (spec: Static<S>, at: FieldPath) => readonly Violation[];
  /** Returns violations of rules that also need the resource's mesh and namespace. Called only with a spec that breaks no other rule. */
  readonly validateAt: (id: Identity, spec: Static<S>, at: FieldPath) => readonly Violation[];
  /** Returns warnings about valid content that is probably a mistake. */
  readonly warn: (subject: WarnSubject<Static<S>>) => readonly string[];
}

/** Role that writes a kind. */
export type Writer = 'owner' | 'operator' | 'admin';

/** A kind without the type of its spec, as the registry and generic code use it. */
export interface Kind {
  readonly name: string;
  readonly bareName: string;
  readonly plural: string;
  readonly shortName: string;
  readonly aliases: readonly KindAlias[];
  readonly apiVersion: string;
  readonly otherGroups: readonly string[];
  readonly scope: 'global' | 'mesh';
  readonly meshFrom: 'user' | 'namespace';
  readonly namespaced: boolean;
  readonly sync: SyncRule;
  readonly writer: Writer;
  readonly declaredBy: string;
  readonly confidential: boolean;
  readonly bounds: KindBounds;
  readonly spec: TSchema;
  readonly serverOwned: readonly string[];
  readonly immutable: readonly string[];
  readonly derive: (subject: DerivedFrom) => JsonObject;
  readonly pending: readonly string[];
  readonly checkName: (name: string, at: FieldPath) => readonly Violation[];
  /** Returns violations of size, schema and rules; field paths begin with `at`. Linear in the spec. */
  readonly check: (spec: unknown, at: FieldPath) => Violations;
  /** Like `check`, plus the rules that need the resource's mesh and namespace. */
  readonly checkAt: (id: Identity, spec: unknown, at: FieldPath) => Violations;
  /**
   * Returns the first field with a wrong JSON type or more items, entries or characters than the schema allows. This is
   * the only rule for specs received by sync. Linear in the spec.
   */
  readonly shapeViolation: (spec: unknown, at: FieldPath) => Violation | undefined;
  /** Returns the spec with the schema's defaults filled in; does not change the input. */
  readonly withDefaults: (spec: unknown) => unknown;
  readonly warnings: (name: string, spec: unknown) => readonly string[];
}

/** A kind with the type of its spec. */
export interface TypedKind<Spec> extends Kind {
  /**
   * Narrows a stored resource to this kind's spec. False if a field has another JSON type than in the schema. A
   * required field may be missing, and `null` may stand for an absent one, because sync accepts both.
   */
  readonly is: (resource: Resource<unknown, unknown>) => resource is Resource<Spec>;
  /** Like `is`, for a spec alone. */
  readonly isSpec: (spec: unknown) => spec is Spec;
}

/** The spec type of a kind. */
export type SpecOf<K> = K extends TypedKind<infer Spec> ? Spec : never;
