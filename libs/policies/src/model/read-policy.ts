import {
  FieldPath,
  identityKey,
  isJsonArray,
  isJsonObject,
  ownField,
  type Identity,
  type JsonObject,
  type JsonValue,
  type Violation,
  type ViolationReport,
} from '@causeway/resources';
import type { PolicyDefinition } from './definition';
import type { Strategy } from './levels';
import { createPolicy, RESERVED_FIELDS, type Policy, type StoredPolicy, type TargetRef } from './policy';
import { readTargetRefs } from './target-refs';

/** Maximum nesting of a spec proper. */
const MAX_POLICY_DEPTH = 32;
/** Maximum number of values of a spec proper: the cost of folds is linear in them. */
const MAX_POLICY_VALUES = 4_096;

/** The parts of a policy's spec. */
interface Written {
  readonly targetRefs: readonly TargetRef[];
  readonly strategy: Strategy;
  readonly spec: JsonObject;
}

/**
 * Returns the violations of the spec of a policy besides its schema (T004-01, -04 to -08, -20, -27, -31). Fields from
 * `at`, the spec. Linear in it.
 */
export function policyViolations(
  definition: PolicyDefinition,
  id: Identity,
  spec: JsonObject,
  at: FieldPath,
): Violation[] {
  const found: Violation[] = [];
  takeApart(definition, id, spec, { at, found });
  return found;
}

/**
 * Normalizes a spec for storage: `targetRef` becomes a list, kinds and groups of targets are filled in (T004-04,
 * T004-05). Unreadable parts stay, so that `policyViolations` refuses them.
 */
export function normalPolicySpec(definition: PolicyDefinition, spec: JsonObject): JsonObject {
  const single = ownField(spec, 'targetRef');
  const isSingle = single !== undefined && ownField(spec, 'targetRefs') === undefined;
  const refs = isSingle ? [single] : ownField(spec, 'targetRefs');
  if (!isJsonArray(refs)) return spec;
  const { targetRef: _, targetRefs: __, ...rest } = spec;
  return {
    targetRefs: refs.map((ref) => filledIn(definition, ref)),
    ...(isSingle ? rest : without(spec, 'targetRefs')),
  };
}

function without(spec: JsonObject, field: string): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([key]) => key !== field));
}

function filledIn(definition: PolicyDefinition, ref: JsonValue): JsonValue {
  if (!isJsonObject(ref)) return ref;
  const [only, ...others] = [...definition.declared.values(), ...definition.virtual];
  const kind = ownField(ref, 'kind') ?? (others.length === 0 ? only?.kind : undefined);
  if (typeof kind !== 'string') return ref;
  const declared = definition.declared.get(kind === 'Service' ? 'MeshService' : kind);
  const group = ownField(ref, 'group') ?? (declared ? groupWritten(declared.groups) : undefined);
  return { ...(group !== undefined && { group }), kind, ...without(without(ref, 'kind'), 'group') };
}

/** Returns the group to write for a kind: the most explicit one. */
const groupWritten = (groups: readonly string[]): string =>
  groups.find((group) => group.includes('.')) ?? groups[0] ?? '';

/**
 * Reads a stored policy for the engine. Stored resources are validated again: an invalid spec has no targets. Never
 * throws.
 */
export function readPolicy(
  definition: PolicyDefinition,
  { id, creationOrder, generation, spec }: StoredPolicy,
): Policy {
  const found: Violation[] = [];
  const written = takeApart(definition, id, spec, { at: FieldPath.at('spec'), found });
  const own = { key: identityKey(id), id, creationOrder, generation };
  const [violation] = found;
  if (violation) return createPolicy({ ...own, strategy: 'AtomicDefaults', targetRefs: [], spec: {}, violation });
  return createPolicy({ ...own, ...written });
}

function takeApart(definition: PolicyDefinition, id: Identity, spec: JsonObject, report: ViolationReport): Written {
  const targetRefs = readTargetRefs(definition, id, spec, report);
  const { strategy, proper, place } = readStanza(definition, spec, report);
  if (Object.keys(proper).length === 0) {
    report.found.push(place.violation('must have at least one field that says what the policy does', 'required'));
  }
  valueViolations(proper, place, report.found);
  return { targetRefs, strategy, spec: proper };
}

/** Reads the strategy and the spec proper (the table in 2.4 of the rows' specification). */
function readStanza(definition: PolicyDefinition, spec: JsonObject, { at, found }: ViolationReport) {
  const bare = Object.fromEntries(
    Object.entries(spec).filter(([key, value]) => value !== undefined && !RESERVED_FIELDS.some((name) => name === key)),
  );
  const wrappers = (['defaults', 'overrides'] as const).filter((name) => ownField(spec, name) !== undefined);
  const [wrapper, second] = wrappers;
  const own = ownField(spec, 'strategy');
  if (second)
    found.push(at.field(second).violation('must not stand beside defaults: a policy has one strategy', 'not-allowed'));
  if (!wrapper) {
    const isPreset = own === undefined && definition.strategies.length === 1;
    const [preset] = isPreset ? definition.strategies : [];
    const strategy = preset ?? readStrategy(definition, 'Defaults', own, { at: at.field('strategy'), found });
    return { strategy, proper: bare, place: at };
  }
  const place = at.field(wrapper);
  const [beside] = Object.keys(bare);
  if (beside !== undefined) {
    found.push(
      at.field(beside).violation(`must stand in ${wrapper}, which holds all that the policy does`, 'not-allowed'),
    );
  }
  const content = ownField(spec, wrapper);
  if (!isJsonObject(content)) {
    found.push(place.violation('must be an object', 'wrong-type'));
    return { strategy: 'AtomicDefaults' as const, proper: {}, place };
  }
  const inner = ownField(content, 'strategy');
  if (inner !== undefined && own !== undefined) {
    found.push(at.field('strategy').violation(`must not be given twice: ${wrapper} has one`, 'not-allowed'));
  }
  if (definition.strategies.includes('None')) {
    found.push(place.violation(`must not be used: ${definition.kind} merges nothing`, 'not-allowed'));
  }
  const side = wrapper === 'defaults' ? 'Defaults' : 'Overrides';
  const strategy = readStrategy(definition, side, inner ?? own, { at: place, found });
  return { strategy, proper: without(content, 'strategy'), place };
}

function readStrategy(
  { kind, strategies }: PolicyDefinition,
  side: 'Defaults' | 'Overrides',
  granularity: JsonValue | undefined,
  { at, found }: ViolationReport,
): Strategy {
  if (strategies.includes('None')) {
    if (granularity !== undefined) found.push(at.violation(`must not be given: ${kind} merges nothing`, 'not-allowed'));
    return 'None';
  }
  if (granularity !== undefined && granularity !== 'atomic' && granularity !== 'patch') {
    found.push(at.violation(`must be atomic or patch; got ${JSON.stringify(granularity).slice(0, 80)}`, 'not-one-of'));
    return 'AtomicDefaults';
  }
  const strategy = `${granularity === 'patch' ? 'Patch' : 'Atomic'}${side}` as const;
  if (!strategies.includes(strategy)) {
    found.push(
      at.violation(`must be one of ${kind}'s strategies, ${strategies.join(', ')}; this is ${strategy}`, 'not-one-of'),
    );
  }
  return strategy;
}

/** Returns a violation for null, which a merge patch treats as a removal, and for too much nesting or too many values (T004-27). At most one. */
function valueViolations(spec: JsonObject, at: FieldPath, found: Violation[]): void {
  let values = 0;
  const check = (value: JsonValue | undefined, place: FieldPath, depth: number): Violation | undefined => {
    if (value === null) return place.violation('must not be null: leave the field out', 'wrong-type');
    if (typeof value !== 'object') return undefined;
    if (depth > MAX_POLICY_DEPTH)
      return place.violation(`must not be nested deeper than ${MAX_POLICY_DEPTH}`, 'too-deep');
    const inner: readonly (readonly [string | number, JsonValue | undefined])[] = isJsonArray(value)
      ? value.map((item, i) => [i, item] as const)
      : Object.entries(value);
    values += inner.length;
    if (values > MAX_POLICY_VALUES)
      return place.violation(`must not have more than ${MAX_POLICY_VALUES} values`, 'too-many');
    for (const [step, item] of inner) {
      const wrong = check(item, typeof step === 'number' ? place.index(step) : place.field(step), depth + 1);
      if (wrong) return wrong;
    }
    return undefined;
  };
  const wrong = check(spec, at, 0);
  if (wrong) found.push(wrong);
}
