import type { Static, TSchema } from 'typebox';
import type { KindDefinition, TypedKind } from './kind';
import { checkName } from './names';
import { compileSchema } from './schema-check';
import type { Violation } from './violation';

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
      // A field that nobody knows must not hide what else is wrong.
      const known = violations.length === 0 ? spec : schema.withoutUnknown(spec);
      const all = [...violations, ...(schema.fits(known) ? (input.validate?.(known, at) ?? []) : [])];
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
