import { RE2JS } from 're2js';

/** Maximum length of a regular expression, characters. */
const MAX_EXPRESSION_LENGTH = 1_024;
/** Maximum number of characters of all regular expressions of one route: it bounds the time to compile them. */
export const MAX_EXPRESSION_CHARACTERS = 4_096;
/** Largest compiled expression, instructions: matching costs at most so many steps a character. */
const MAX_INSTRUCTIONS = 1_000;
/** Largest sum of all counted repetitions of one expression: `a{30}b{5,9}` has 39. */
const MAX_REPETITIONS = 1_000;

/** Maximum number of kept compiled expressions: control planes read the same definitions of kinds and routes again and again. */
const MAX_KEPT = 256;

/** A compiled expression. `matches` is linear in the length of the value: at most `size` steps a character. */
export interface RegularExpression {
  /** Instructions. */
  readonly size: number;
  readonly matches: (value: string) => boolean;
}

type Compilation =
  { readonly ok: true; readonly value: RegularExpression } | { readonly ok: false; readonly reason: string };

/**
 * Compiles an expression of RE2's syntax, which has no lookaround and no back references, for full matches as Envoy's
 * `safe_regex` does. Refuses with a reason what is no such expression or exceeds the bounds above; never throws.
 */
export function compileExpression(expression: string): Compilation {
  if (expression.length > MAX_EXPRESSION_LENGTH) {
    return { ok: false, reason: `must be at most ${MAX_EXPRESSION_LENGTH} characters; has ${expression.length}` };
  }
  const repetitions = countedRepetitions(expression);
  if (repetitions > MAX_REPETITIONS) {
    return { ok: false, reason: `must repeat at most ${MAX_REPETITIONS} times in all; repeats ${repetitions} times` };
  }
  return kept.get(expression) ?? keep(expression, compiled(expression));
}

/** Compiled expressions by their text, the oldest first: they have no state. */
const kept = new Map<string, Compilation>();

function keep(expression: string, compilation: Compilation): Compilation {
  const [oldest] = kept.keys();
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  kept.set(expression, compilation);
  return compilation;
}

function compiled(expression: string): Compilation {
  try {
    const program = RE2JS.compile(expression);
    const size = program.programSize();
    if (size > MAX_INSTRUCTIONS) {
      return { ok: false, reason: `must compile to at most ${MAX_INSTRUCTIONS} instructions; has ${size}` };
    }
    return { ok: true, value: { size, matches: (value) => program.testExact(value) } };
  } catch (error) {
    return { ok: false, reason: `is no RE2 expression: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Estimates the cost of compiling besides the length; counted before anything is compiled. */
function countedRepetitions(expression: string): number {
  let sum = 0;
  for (const [, least, most] of expression.matchAll(/\{([0-9]{1,9})(?:,([0-9]{0,9}))?\}/g)) {
    sum += Math.max(Number(least), Number(most ?? 0));
  }
  return sum;
}
