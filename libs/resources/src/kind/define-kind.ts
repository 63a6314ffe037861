import type { Static, TSchema } from 'typebox';
import { httpViolations } from '../http/http-places';
import { jsonBytes } from '../json';
import { DEFAULT_BOUNDS, type KindBounds, type KindDefinition, type TypedKind } from './kind';
import { checkName } from '../identity';
import { compileSchema, type CompiledSchema } from '../schema/compiled-schema';
import { FieldPath, Violations, type Violation } from '../violation';

type Defaulted =
  | 'namespaced'
  | 'meshFrom'
  | 'aliases'
  | 'bareName'
  | 'apiVersion'
  | 'otherGroups'
  | 'writer'
  | 'declaredBy'
  | 'confidential'
  | 'serverOwned'
  | 'immutable'
  | 'derive'
  | 'pending'
  | 'checkName'
  | 'validate'
  | 'validateAt'
  | 'warn';

const SPEC = FieldPath.at('spec');

/** Input of a kind declaration; fields with a default may be absent. */
export type KindInput<S extends TSchema> = Omit<KindDefinition<S>, Defaulted | 'bounds'> &
  Partial<Pick<KindDefinition<S>, Defaulted>> & {
    readonly bounds?: Partial<KindBounds>;
    /** Compiled schema, for a kind whose schema is not part of the code. */
    readonly schema?: CompiledSchema<S>;
  };

/**
 * Creates a kind from its declaration. Defaults: no namespaces, written by service owners, not confidential, nothing
 * server-owned, derived or pending, `DEFAULT_BOUNDS`, no further rules. Compiles the schema once.
 */
export function defineKind<S extends TSchema>(input: KindInput<S>): TypedKind<Static<S>> {
  const schema = input.schema ?? compileSchema(input.spec);
  const bounds = Object.freeze({ ...DEFAULT_BOUNDS, ...input.bounds });
  const rules = (spec: unknown, at: FieldPath): readonly Violation[] =>
    schema.fits(spec) ? [...httpViolations(input.spec, spec, at), ...(input.validate?.(spec, at) ?? [])] : [];
  /** A field that does not fit the schema must not hide violations of other fields. */
  const rulesOfValidSubset = (spec: unknown, at: FieldPath): readonly Violation[] => {
    const { value, replaced } = schema.validSubset(spec, at);
    return rules(value, at).filter(({ field }) => !replaced.concern(field));
  };
  const check = (spec: unknown, at: FieldPath): Violations => {
    const found = new Violations();
    // Checks the size first: a spec that is too large is not traversed.
    if (jsonBytes(spec, bounds.bytes) > bounds.bytes)
      found.add(at, 'too-large', () => `must not be larger than ${bounds.bytes} bytes of JSON`);
    else {
      schema.check(spec, at, found);
      found.addAll(found.total === 0 ? rules(spec, at) : rulesOfValidSubset(spec, at));
    }
    return input.confidential === true ? found.map(withoutValue) : found;
  };
  return Object.freeze({
    ...describeInput(input),
    bounds,
    spec: input.spec,
    check,
    checkAt: (id, spec, at) => {
      const found = check(spec, at);
      if (found.total === 0 && schema.fits(spec)) found.addAll(input.validateAt?.(id, spec, at) ?? []);
      return found;
    },
    shapeViolation: (spec, at) => {
      const fault = schema.shapeViolation(spec, at);
      return fault && input.confidential === true ? withoutValue(fault) : fault;
    },
    withDefaults: (spec) => schema.withDefaults(spec),
    warnings: (name, spec) => (schema.fits(spec) ? (input.warn?.({ name, spec }) ?? []) : []),
    is: (resource): resource is never =>
      resource.id.kind === input.name && schema.shapeViolation(resource.spec, SPEC) === undefined,
    isSpec: (spec): spec is never => schema.shapeViolation(spec, SPEC) === undefined,
  } satisfies TypedKind<Static<S>>);
}

/** Returns the properties of a kind besides its schema and rules, with defaults filled in. */
function describeInput<S extends TSchema>(input: KindInput<S>) {
  return {
    name: input.name,
    bareName: input.bareName ?? input.name,
    plural: input.plural,
    shortName: input.shortName,
    aliases: input.aliases ?? [],
    apiVersion: input.apiVersion ?? 'kuma.io/v1alpha1',
    otherGroups: input.otherGroups ?? [],
    scope: input.scope,
    meshFrom: input.meshFrom ?? 'user',
    namespaced: input.namespaced ?? false,
    sync: input.sync,
    writer: input.writer ?? 'owner',
    declaredBy: input.declaredBy ?? '',
    confidential: input.confidential ?? false,
    serverOwned: input.serverOwned ?? [],
    immutable: input.immutable ?? [],
    derive: input.derive ?? (() => ({})),
    pending: input.pending ?? [],
    checkName: input.checkName ?? checkName,
  };
}

/** Returns a violation without the value in its reason. */
function withoutValue(violation: Violation): Violation {
  const value = violation.reason.indexOf('; got ');
  return value < 0 ? violation : { ...violation, reason: violation.reason.slice(0, value) };
}
