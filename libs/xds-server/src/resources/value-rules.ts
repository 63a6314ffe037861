import type { FieldSchema, ValueRules } from '@causeway/proto-gen';
import type { WireValue } from './wire-message';

/** A constraint of Envoy's protos that a value violates. */
export interface BrokenRule {
  readonly reason: string;
  readonly rule: 'out-of-range' | 'not-one-of' | 'wrong-form' | 'too-short' | 'too-long';
}

const NONE: readonly BrokenRule[] = [];

/** Returns the constraints of its field that a value violates. */
export function brokenRules(value: WireValue, rules: ValueRules, field: FieldSchema): readonly BrokenRule[] {
  if (typeof value === 'number')
    return field.type === 'enum' ? brokenByEnum(value, rules, field) : outOfRange(value, rules);
  if (typeof value === 'string') return brokenByText(value, rules);
  if (typeof value !== 'boolean') return brokenByLength(value.length, rules, 'bytes');
  if (rules.const === undefined || value === rules.const) return NONE;
  return [{ rule: 'not-one-of', reason: `must be ${rules.const}, is ${value}` }];
}

/** Compares a number, or the seconds of a duration, with its bounds. */
export function outOfRange(value: number, { gt, gte, lt, lte }: ValueRules): readonly BrokenRule[] {
  const broken: BrokenRule[] = [];
  const mustBe = (bound: string): void =>
    void broken.push({ rule: 'out-of-range', reason: `must be ${bound}, is ${value}` });
  if (gt !== undefined && !(value > gt)) mustBe(`greater than ${gt}`);
  if (gte !== undefined && !(value >= gte)) mustBe(`at least ${gte}`);
  if (lt !== undefined && !(value < lt)) mustBe(`less than ${lt}`);
  if (lte !== undefined && !(value <= lte)) mustBe(`at most ${lte}`);
  return broken;
}

function brokenByEnum(
  value: number,
  { definedOnly, notIn }: ValueRules,
  { values }: FieldSchema,
): readonly BrokenRule[] {
  const undefinedValue = definedOnly && values && !values.includes(value);
  if (!undefinedValue && !notIn?.includes(value)) return NONE;
  return [{ rule: 'not-one-of', reason: `${value} is not a value of this enum that Envoy accepts` }];
}

function brokenByText(value: string, rules: ValueRules): readonly BrokenRule[] {
  if (rules.ignoreEmpty && value === '') return NONE;
  const broken: BrokenRule[] = [];
  const { minLen = 0, maxBytes } = rules;
  // A character is at most two code units: only a text that may be too short is counted.
  if (value.length < 2 * minLen) broken.push(...brokenByLength([...value].length, { minLen }, 'characters'));
  if (maxBytes !== undefined && Buffer.byteLength(value) > maxBytes)
    broken.push({ rule: 'too-long', reason: `must be at most ${maxBytes} bytes, is ${Buffer.byteLength(value)}` });
  if (rules.in && !rules.in.includes(value))
    broken.push({ rule: 'not-one-of', reason: `must be one of ${rules.in.join(', ')}, is ${quoted(value)}` });
  const pattern = toPattern(rules);
  if (pattern && !pattern.test(value))
    broken.push({ rule: 'wrong-form', reason: `must match ${pattern.source}, is ${quoted(value)}` });
  return broken;
}

function brokenByLength(
  length: number,
  rules: { minLen?: number; maxLen?: number | undefined },
  unit: string,
): readonly BrokenRule[] {
  const { minLen = 0, maxLen = Infinity } = rules;
  if (length < minLen) return [{ rule: 'too-short', reason: `must have at least ${minLen} ${unit}, has ${length}` }];
  if (length > maxLen) return [{ rule: 'too-long', reason: `must have at most ${maxLen} ${unit}, has ${length}` }];
  return NONE;
}

/** The well-known expressions of protoc-gen-validate. */
const HTTP_HEADER_NAME = /^:?[0-9a-zA-Z!#$%&'*+\-.^_|~`]+$/;

const HTTP_HEADER_VALUE = /^[^\u0000-\u0008\u000A-\u001F\u007F]*$/;

const HEADER_NOT_STRICT = /^[^\u0000\u000A\u000D]*$/;

const compiled = new Map<string, RegExp>();

function toPattern({ pattern, wellKnownRegex, strict }: ValueRules): RegExp | undefined {
  if (wellKnownRegex && strict === false) return HEADER_NOT_STRICT;
  if (wellKnownRegex) return wellKnownRegex === 'HTTP_HEADER_NAME' ? HTTP_HEADER_NAME : HTTP_HEADER_VALUE;
  if (!pattern) return undefined;
  const known = compiled.get(pattern) ?? new RegExp(pattern, 'u');
  compiled.set(pattern, known);
  return known;
}

function quoted(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value);
}
