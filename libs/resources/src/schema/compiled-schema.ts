import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { withDefaults } from './defaults';
import { shapeViolation } from './received-shape';
import { addSchemaViolations } from './schema-violations';
import { validSubset, type ValidSubset } from './valid-subset';
import type { FieldPath, Violation } from '../violation';
import type { Violations } from '../violations';

/** A schema made ready to judge values. */
export interface CompiledSchema<S extends TSchema> {
  readonly fits: (value: unknown) => value is Static<S>;
  /** Adds every violation to `found`, field path first; none when the value fits. */
  readonly check: (value: unknown, at: FieldPath, found: Violations) => void;
  /** The first place where the value has a wrong JSON type or more than the schema allows. */
  readonly shapeViolation: (value: unknown, at: FieldPath) => Violation | undefined;
  /** The value with defaults where fields are absent; the input is not changed. */
  readonly withDefaults: (value: unknown) => unknown;
  /** What of a value that does not fit can be judged further. */
  readonly validSubset: (value: unknown, at: FieldPath) => ValidSubset;
}

/** Compiles a TypeBox schema; do it once and keep the result. */
export function compileSchema<S extends TSchema>(schema: S): CompiledSchema<S> {
  const validator = Compile(schema);
  const fits = (value: unknown): value is Static<S> => validator.Check(value);
  return {
    fits,
    withDefaults: (value) => withDefaults(schema, value),
    validSubset: (value, at) => validSubset(schema, value, at),
    // The compiled check is fast, and what fits has the right shape.
    shapeViolation: (value, at) => (fits(value) ? undefined : shapeViolation(schema, value, at)),
    check: (value, at, found) => {
      if (fits(value)) return;
      const before = found.total;
      addSchemaViolations(schema, value, at, found);
      if (found.total === before) found.add(at, 'invalid', () => 'does not fit its schema');
    },
  };
}
