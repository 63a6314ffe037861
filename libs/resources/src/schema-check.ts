import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Clone, Default } from 'typebox/value';
import { explain } from './schema-reasons';
import { soundPart, type SoundPart } from './sound-part';
import type { FieldPath, Violation } from './violation';

/** A schema made ready to judge values. */
export interface CompiledSchema<S extends TSchema> {
  readonly fits: (value: unknown) => value is Static<S>;
  /** Every violation, field path first; empty when the value fits. */
  readonly violations: (value: unknown, at: FieldPath) => readonly Violation[];
  /** A copy with defaults filled in where fields are absent. */
  readonly withDefaults: (value: unknown) => unknown;
  /** What of a value that does not fit can be judged further. */
  readonly soundPart: (value: unknown, at: FieldPath) => SoundPart;
}

/** Compiles a TypeBox schema; do it once and keep the result. */
export function compileSchema<S extends TSchema>(schema: S): CompiledSchema<S> {
  const validator = Compile(schema);
  const fits = (value: unknown): value is Static<S> => validator.Check(value);
  return {
    fits,
    withDefaults: (value) => Default(schema, Clone(value)),
    soundPart: (value, at) => soundPart(schema, value, at),
    violations: (value, at) => {
      if (fits(value)) return [];
      const found = explain(schema, value, at);
      return found.length > 0 ? found : [at.violation('does not fit its schema')];
    },
  };
}
