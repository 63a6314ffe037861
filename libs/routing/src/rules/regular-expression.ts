import { RE2JS } from 're2js';

/** Maximum length of a regular expression, characters. */
const MAX_EXPRESSION_LENGTH = 1_024;
/** Maximum total length of the regular expressions of one route, characters: it bounds the time to compile them. */
export const MAX_EXPRESSION_CHARACTERS = 4_096;
/** Maximum size of a compiled expression, instructions: matching takes at most this many steps per character. */
const MAX_INSTRUCTIONS = 1_000;
/** Maximum sum of the counted repetitions of one expression: `a{30}b{5,9}` has 39. */
const MAX_REPETITIONS = 1_000;

/** Maximum number of cached compiled expressions: control planes read the same kinds and routes repeatedly. */
const MAX_KEPT = 256;

/** A compiled expression. `matches` is linear in the length of the value: at most `size` steps per character. */
export interface RegularExpression {
  /** Number of instructions. */
  readonly size: number;
  readonly matches: (value: string) => boolean;
}

type Compilation =
  { readonly ok: true; readonly value: RegularExpression } | { readonly ok: false; readonly reason: string };

/**
 * Compiles an expression in RE2's syntax, without lookaround and back references, for full matches like Envoy's
 * `safe_regex`. Refuses other syntax and expressions above the bounds with a reason; never throws.
 */
export function compileExpression(expression: string): Compilation {
  if (expression.length > MAX_EXPRESSION_LENGTH) {
    return { ok: false, reason: `must be at most ${MAX_EXPRESSION_LENGTH} characters; has ${expression.length}` };
  }
  const repetitions = countRepetitions(expression);
  if (repetitions > MAX_REPETITIONS) {
    return { ok: false, reason: `must repeat at most ${MAX_REPETITIONS} times in all; repeats ${repetitions} times` };
  }
  return compilations.get(expression) ?? cache(expression, compile(expression));
}

/** Cache of compiled expressions by their text, the oldest first: they have no state. */
const compilations = new Map<string, Compilation>();

function cache(expression: string, compilation: Compilation): Compilation {
  const [oldest] = compilations.keys();
  if (compilations.size >= MAX_KEPT && oldest !== undefined) compilations.delete(oldest);
  compilations.set(expression, compilation);
  return compilation;
}

function compile(expression: string): Compilation {
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

/** Estimates the cost of compiling besides the length, before anything is compiled. */
function countRepetitions(expression: string): number {
  let sum = 0;
  for (const [, least, most] of expression.matchAll(/\{([0-9]{1,9})(?:,([0-9]{0,9}))?\}/g)) {
    sum += Math.max(Number(least), Number(most ?? 0));
  }
  return sum;
}
