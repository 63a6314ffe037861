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

/** The largest size of a resource of a kind, on REST, gRPC and sync (docs/reference/bounds.md). */
export interface KindBounds {
  /** Labels and spec together, as JSON in UTF-8. */
  readonly bytes: number;
  /** Number of labels, computed ones included. */
  readonly labels: number;
}

/** The bounds of kinds that do not set any. */
export const DEFAULT_BOUNDS: KindBounds = Object.freeze({ bytes: 256 * 1024, labels: 128 });

/** Another name of a kind, by which documents, paths and commands may call it (row T000-02). */
export interface KindAlias {
  /** `XMesh`: the `type` or `kind` of its documents. */
  readonly name: string;
  /** `xmeshes`: its path on REST, and a noun. */
  readonly plural: string;
  /** `apiVersion` of its Kubernetes form. */
  readonly apiVersion: string;
  /** Spec fields that its documents must have, although documents with the kind's own name may leave them out. */
  readonly required: readonly string[];
}

/** The one declaration from which REST, storage, sync, CLI and contract tests of a kind follow (docs/design.md §1). */
export interface KindDefinition<S extends TSchema = TSchema> {
  /** `MeshService`: the `type` of documents, and part of each identity. A second kind of one name has its group behind it. */
  readonly name: string;
  /** The `kind` of its Kubernetes form: the name, without a group. */
  readonly bareName: string;
  /** `meshservices`: the path on REST and the noun of the CLI. */
  readonly plural: string;
  /** `msvc`: the abbreviation in KRIs and on the command line. */
  readonly shortName: string;
  /** Other names. Output has `name`, but in the Kubernetes form where the alias is asked for. */
  readonly aliases: readonly KindAlias[];
  /** `apiVersion` of its Kubernetes form, as it is written. */
  readonly apiVersion: string;
  /** The groups of which its documents may be besides the one of `apiVersion`, each with the versions of `apiGroups`. */
  readonly otherGroups: readonly string[];
  readonly scope: 'global' | 'mesh';
  /**
   * Source of the mesh of a new resource: `user`, whose document, path or default must agree with a mesh that selects
   * the namespace, or only the one mesh that selects it, whatever a document says (T003-24, T003-25).
   */
  readonly meshFrom: 'user' | 'namespace';
  readonly namespaced: boolean;
  readonly sync: SyncRule;
  /** The least built-in role that writes it: a service's owner, the operator of the mesh, an administrator (docs/design.md §6 Roles). */
  readonly writer: Writer;
  /** The MetaresourceDefinition that declares it; empty for kinds of the product. */
  readonly declaredBy: string;
  /** Its values never appear in lists or logs. */
  readonly confidential: boolean;
  /** Bounds of the whole resource; every list, text and map of the schema has its own bound besides. */
  readonly bounds: KindBounds;
  readonly spec: S;
  /** Spec fields the control plane computes: a user's PUT keeps the stored value. */
  readonly serverOwned: readonly string[];
  /** Spec fields that keep the value they were created with; where a status is derived of that name, its value. */
  readonly immutable: readonly string[];
  /**
   * Status fields that follow from identity and spec as stored, which by sync may break rules (row T003-04). Readers
   * see them; they are never stored nor sent to peers.
   */
  readonly derive: (subject: DerivedFrom) => JsonObject;
  /** Types of the conditions that readers see as Unknown, reason Pending, until a controller writes them (row T000-25). */
  readonly pending: readonly string[];
  /** Violations of the rule for names; by default names are RFC 1123 subdomains (docs/design.md §1, Names). */
  readonly checkName: (name: string, at: FieldPath) => readonly Violation[];
  /** Rules that a schema cannot express. Called only with a spec that fits the schema. */
  readonly validate: (spec: Static<S>, at: FieldPath) => readonly Violation[];
  /** Rules that look at the resource's own mesh and namespace too. Called only with a spec that breaks no other rule. */
  readonly validateAt: (id: Identity, spec: Static<S>, at: FieldPath) => readonly Violation[];
  /** Returns warnings about legal content that is most likely a mistake. */
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
  /** Violations of size, schema and rules; field paths begin with `at`. Linear in the spec. */
  readonly check: (spec: unknown, at: FieldPath) => Violations;
  /** As `check`, and the rules that look at the resource's own mesh and namespace. */
  readonly checkAt: (id: Identity, spec: unknown, at: FieldPath) => Violations;
  /**
   * The first field with a wrong JSON type or more items, entries or characters than the schema allows. This is the only
   * rule for specs received by sync. Linear in the spec.
   */
  readonly shapeViolation: (spec: unknown, at: FieldPath) => Violation | undefined;
  /** Spec with the schema's defaults filled in; the input is not changed. */
  readonly withDefaults: (spec: unknown) => unknown;
  readonly warnings: (name: string, spec: unknown) => readonly string[];
}

/** A kind with the type of its spec. */
export interface TypedKind<Spec> extends Kind {
  /**
   * Narrows a stored resource to this kind's spec. False if a field has another JSON type than the schema. A required field
   * may be missing and `null` may stand for absence, because sync accepts both.
   */
  readonly is: (resource: Resource<unknown, unknown>) => resource is Resource<Spec>;
  /** As `is`, for a spec alone. */
  readonly isSpec: (spec: unknown) => spec is Spec;
}

/** The spec type of a kind. */
export type SpecOf<K> = K extends TypedKind<infer Spec> ? Spec : never;
