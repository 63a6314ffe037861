import { Type } from 'typebox';
import {
  defineKind,
  FieldPath,
  interpretSchema,
  isJsonArray,
  isJsonObject,
  jsonShapeViolation,
  ownField,
  Sync,
  type JsonObject,
  type Kind,
  type Schema,
  type Violation,
} from '@causeway/resources';
import type { MetaresourceDefinitionSpec } from '../metaresource-definition';
import { Group, KindName, NamespaceName, ObjectName, SectionName } from '../schema/route-parts';
import { Selector, strict } from '../schema/schema-parts';
import { declaredSchema, reservedFields } from './declared-schema';

/** Largest policy of a declared kind, bytes of labels and spec. */
const POLICY_BYTES = 64 * 1024;
/** Most targets of one policy (T004-04). */
const MOST_TARGETS = 16;

/** What all declared kinds have in common: they travel as routes do, to Causeway peers only. */
const SHAPE = { scope: 'mesh', namespaced: true, sync: Sync.routes } as const;

const TargetRef = Type.Object(
  {
    group: Type.Optional(Group),
    kind: Type.Optional(KindName),
    namespace: Type.Optional(NamespaceName),
    name: Type.Optional(ObjectName),
    selector: Type.Optional(Selector),
    sectionName: Type.Optional(SectionName),
  },
  strict,
);
const TargetRefs = Type.Array(TargetRef, { minItems: 1, maxItems: MOST_TARGETS });
const Strategy: Schema = { type: 'string', enum: ['atomic', 'patch'] };

/** The kind that a definition declares. The definition must have passed its own rules. */
export function declaredKind(definition: MetaresourceDefinitionSpec): Kind {
  const { kind, plural, shortName = kind.toLowerCase(), group, writer = 'owner' } = definition;
  const { schema } = declaredSchema(definition.schema, FieldPath.at('schema'));
  const whole = policySchema(schema);
  return defineKind({
    ...{ name: kind, plural, shortName, apiVersion: `${group}/v1alpha1`, writer },
    ...SHAPE,
    bounds: { bytes: POLICY_BYTES },
    spec: whole,
    schema: {
      ...interpretSchema(whole),
      withDefaults: (spec) => (isJsonObject(spec) ? withTargets(spec, definition) : spec),
      shapeViolation: foreignShape,
    },
    validate: (spec, at) => (isJsonObject(spec) ? formViolations(spec, schema, at) : []),
  });
}

/**
 * A kind that a peer names and that is not known here, as sync handles it: every declared kind has the same scope and travels by the same
 * rule, so its resources can be sent and stored before and after its definition is known here.
 */
export function undeclaredKind(name: string): Kind {
  const plural = name.toLowerCase();
  const schema: Schema = { type: 'object', additionalProperties: true };
  return defineKind({
    ...{ name, plural, shortName: plural },
    ...SHAPE,
    bounds: { bytes: POLICY_BYTES },
    spec: schema,
    schema: { ...interpretSchema(schema), shapeViolation: foreignShape },
  });
}

/** What is sent by a peer may follow another version of the definition: only its size counts, and its status says what is wrong. */
function foreignShape(spec: unknown, at: FieldPath): Violation | undefined {
  if (!isJsonObject(spec)) return at.violation('must be an object', 'wrong-type');
  const reason = jsonShapeViolation(spec);
  return reason === undefined ? undefined : at.violation(reason, 'too-large');
}

/** A policy has its targets, and its spec proper bare, under `defaults`, or under `overrides` (T004-20). */
function policySchema(proper: Schema): Schema {
  const { required: _, minProperties: __, maxProperties, ...fields } = proper;
  const wrapped: Schema = { ...proper, properties: { ...proper.properties, strategy: Strategy } };
  return {
    ...fields,
    ...(maxProperties === undefined ? {} : { maxProperties: maxProperties + reservedFields.length }),
    properties: {
      targetRefs: TargetRefs,
      targetRef: TargetRef,
      strategy: Strategy,
      defaults: wrapped,
      overrides: wrapped,
      ...proper.properties,
    },
    required: ['targetRefs'],
  };
}

/** `targetRef` becomes `targetRefs` (T004-04), and a kind that only one target of the definition can mean is filled in (T004-05). */
function withTargets(
  { targetRef, ...spec }: JsonObject,
  { declaredTargets, virtualTargets = [] }: MetaresourceDefinitionSpec,
): JsonObject {
  const both = targetRef !== undefined && spec['targetRefs'] !== undefined;
  const given = both ? { targetRef, ...spec } : targetRef === undefined ? spec : { targetRefs: [targetRef], ...spec };
  const [only, ...others] = declaredTargets;
  const targets = ownField(given, 'targetRefs');
  if (!only || others.length + virtualTargets.length > 0 || !isJsonArray(targets)) return given;
  const { kind, group } = only;
  const filled = targets.map((ref) =>
    isJsonObject(ref) && ref['kind'] === undefined
      ? { ...(group === undefined || ref['group'] !== undefined ? {} : { group }), kind, ...ref }
      : ref,
  );
  return { ...given, targetRefs: filled };
}

/** The rules of T004-01, T004-27 and T004-31 that a schema cannot express. */
function formViolations(spec: JsonObject, proper: Schema, at: FieldPath): readonly Violation[] {
  const bare = Object.keys(spec).filter((key) => !reservedFields.some((one) => one === key));
  const forms = ['defaults', 'overrides'].filter((form) => spec[form] !== undefined);
  const given = [...forms, ...(bare.length > 0 ? ['its own fields'] : [])];
  if (spec['targetRef'] !== undefined)
    return [at.field('targetRef').violation('is another way to write targetRefs: give one of them', 'not-allowed')];
  if (given.length === 0) return [at.violation('must say something besides its targets', 'required')];
  if (given.length > 1)
    return [
      at.violation(
        `must have one of defaults, overrides and fields of its own; got ${given.join(' and ')}`,
        'not-allowed',
      ),
    ];
  const missing = forms.length > 0 ? [] : (proper.required ?? []).filter((name) => !bare.includes(name));
  return missing.map((name) => at.field(name).violation('is required', 'required'));
}
