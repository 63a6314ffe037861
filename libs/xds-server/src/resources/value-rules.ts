import type { FieldSchema, ValueRules } from '@causeway/proto-gen';
import type { WireValue } from './wire-message';

/** A constraint of Envoy's protos that a value violates. */
export interface BrokenRule {
  readonly reason: string;
  readonly rule: 'out-of-range' | 'not-one-of' | 'wrong-form' | 'too-short' | 'too-long';
}

/** Returns the constraints of its field that a value violates. */
export function brokenRules(value: WireValue, rules: ValueRules, field: FieldSchema): readonly BrokenRule[] {
  if (typeof value === 'number')
    return field.type === 'enum' ? brokenByEnum(value, rules, field) : outOfRange(value, rules);
  if (typeof value === 'string') return brokenByText(value, rules);
  if (typeof value !== 'boolean') return brokenByLength(value.length, rules, 'bytes');
  if (rules.const === undefined || value === rules.const) return [];
  return [{ rule: 'not-one-of', reason: `must be ${rules.const}, is ${value}` }];
}

/** Compares a number, or the seconds of a duration, with its bounds. */
export function outOfRange(value: number, { gt, gte, lt, lte }: ValueRules): readonly BrokenRule[] {
  const bounds = [
    gt !== undefined && !(value > gt) && `greater than ${gt}`,
    gte !== undefined && !(value >= gte) && `at least ${gte}`,
    lt !== undefined && !(value < lt) && `less than ${lt}`,
    lte !== undefined && !(value <= lte) && `at most ${lte}`,
  ].filter((bound) => bound !== false);
  return bounds.map((bound) => ({ rule: 'out-of-range', reason: `must be ${bound}, is ${value}` }));
}

function brokenByEnum(
  value: number,
  { definedOnly, notIn }: ValueRules,
  { values }: FieldSchema,
): readonly BrokenRule[] {
  const undefinedValue = definedOnly && values && !values.includes(value);
  if (!undefinedValue && !notIn?.includes(value)) return [];
  return [{ rule: 'not-one-of', reason: `${value} is not a value of this enum that Envoy accepts` }];
}

function brokenByText(value: string, rules: ValueRules): readonly BrokenRule[] {
  if (rules.ignoreEmpty && value === '') return [];
  const pattern = toPattern(rules);
  return [
    ...brokenByLength([...value].length, { ...rules, maxLen: undefined }, 'characters'),
    ...(rules.maxBytes !== undefined && Buffer.byteLength(value) > rules.maxBytes
      ? [
          {
            rule: 'too-long' as const,
            reason: `must be at most ${rules.maxBytes} bytes, is ${Buffer.byteLength(value)}`,
          },
        ]
      : []),
    ...(rules.in && !rules.in.includes(value)
      ? [{ rule: 'not-one-of' as const, reason: `must be one of ${rules.in.join(', ')}, is ${quoted(value)}` }]
      : []),
    ...(pattern && !pattern.test(value)
      ? [{ rule: 'wrong-form' as const, reason: `must match ${pattern.source}, is ${quoted(value)}` }]
      : []),
  ];
}

function brokenByLength(
  length: number,
  rules: { minLen?: number; maxLen?: number | undefined },
  unit: string,
): readonly BrokenRule[] {
  const { minLen = 0, maxLen = Infinity } = rules;
  if (length < minLen) return [{ rule: 'too-short', reason: `must have at least ${minLen} ${unit}, has ${length}` }];
  if (length > maxLen) return [{ rule: 'too-long', reason: `must have at most ${maxLen} ${unit}, has ${length}` }];
  return [];
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
