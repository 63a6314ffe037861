import type { Static, TSchema } from 'typebox';
import type { KindDefinition, TypedKind } from './kind';
import { checkName } from './names';
import { compileSchema } from './schema-check';
import { FieldPath, type Violation } from './violation';

type Defaulted =
  | 'namespaced'
  | 'aliases'
  | 'apiVersion'
  | 'writer'
  | 'confidential'
  | 'serverOwned'
  | 'immutable'
  | 'checkName'
  | 'validate'
  | 'warn';

/** What a kind file writes: fields with a usual value may be left out. */
export type KindInput<S extends TSchema> = Omit<KindDefinition<S>, Defaulted> &
  Partial<Pick<KindDefinition<S>, Defaulted>>;

/**
 * Makes a kind of its declaration. Usual values: no namespaces, written by anybody, not confidential, nothing
 * server-owned, no further rules. The schema is compiled once.
 */
export function defineKind<S extends TSchema>(input: KindInput<S>): TypedKind<Static<S>> {
  const schema = compileSchema(input.spec);
  const rules = (spec: unknown, at: FieldPath): readonly Violation[] =>
    schema.fits(spec) ? (input.validate?.(spec, at) ?? []) : [];
  /** A field that does not fit must not hide which rules the others break. */
  const rulesOfSoundPart = (spec: unknown, at: FieldPath): readonly Violation[] => {
    const { value, replaced } = schema.soundPart(spec, at);
    return rules(value, at).filter(({ field }) => !replaced.some((path) => FieldPath.overlap(path, field)));
  };
  return Object.freeze({
    name: input.name,
    plural: input.plural,
    shortName: input.shortName,
    aliases: input.aliases ?? [],
    apiVersion: input.apiVersion ?? 'kuma.io/v1alpha1',
    scope: input.scope,
    namespaced: input.namespaced ?? false,
    sync: input.sync,
    writer: input.writer ?? 'anybody',
    confidential: input.confidential ?? false,
    spec: input.spec,
    serverOwned: input.serverOwned ?? [],
    immutable: input.immutable ?? [],
    checkName: input.checkName ?? checkName,
    check: (spec, at) => {
      const violations = schema.violations(spec, at);
      const all = [...violations, ...(violations.length === 0 ? rules(spec, at) : rulesOfSoundPart(spec, at))];
      return input.confidential === true ? all.map(withoutValue) : all;
    },
    withDefaults: (spec) => schema.withDefaults(spec),
    warnings: (name, spec) => (schema.fits(spec) ? (input.warn?.({ name, spec }) ?? []) : []),
    is: (resource): resource is never => resource.id.kind === input.name,
  } satisfies TypedKind<Static<S>>);
}

/** A violation that does not repeat what it complains of. */
function withoutValue({ field, reason }: Violation): Violation {
  return { field, reason: reason.replace(/; got [^]*$/, '') };
}
