import { Type } from 'typebox';
import {
  defineKind,
  FieldPath,
  interpretSchema,
  isJsonObject,
  jsonShapeViolation,
  ownField,
  Sync,
  type JsonObject,
  type Kind,
  type Schema,
  type Violation,
} from '@causeway/resources';
import {
  MAX_TARGET_REFS,
  normalPolicySpec,
  policyDefinition,
  policyViolations,
  RESERVED_FIELDS,
} from '@causeway/policies';
import { declaredNames, type MetaresourceDefinitionSpec } from '../metaresource-definition';
import { Group, KindName, NamespaceName, ObjectName, SectionName } from '../schema/route-parts';
import { Selector, strict } from '../schema/schema-parts';
import { declaredSchema } from './declared-schema';

/** Maximum size of a policy of a declared kind: bytes of labels and spec. */
const POLICY_BYTES = 64 * 1024;

/** Common part of all declared kinds: they are synced as routes are, to Causeway peers only. */
const SHAPE = { scope: 'mesh', namespaced: true, sync: Sync.routes } as const;

const TargetRef = Type.Object(
  {
    group: Type.Optional(Group),
    version: Type.Optional(Type.String({ maxLength: 63 })),
    kind: Type.Optional(KindName),
    namespace: Type.Optional(NamespaceName),
    name: Type.Optional(ObjectName),
    selector: Type.Optional(Selector),
    sectionName: Type.Optional(SectionName),
  },
  strict,
);
const TargetRefs = Type.Array(TargetRef, { minItems: 1, maxItems: MAX_TARGET_REFS });
const Strategy: Schema = { type: 'string', enum: ['atomic', 'patch'] };

/** Returns the kind that the definition named `declaredBy` declares. The definition must be valid. */
export function declaredKind(declaredBy: string, definition: MetaresourceDefinitionSpec): Kind {
  const { group, writer = 'owner' } = definition;
  const names = declaredNames(definition);
  const { schema } = declaredSchema(definition.schema, FieldPath.at('schema'));
  const whole = policySchema(schema);
  const policy = policyDefinition(definition, names.name);
  return defineKind({
    ...names,
    apiVersion: `${group}/v1alpha1`,
    writer,
    declaredBy,
    ...SHAPE,
    bounds: { bytes: POLICY_BYTES },
    spec: whole,
    schema: {
      ...interpretSchema(whole),
      withDefaults: (spec) => (isJsonObject(spec) ? normalPolicySpec(policy, spec) : spec),
      shapeViolation: foreignShape,
    },
    validateAt: (id, spec, at) =>
      isJsonObject(spec) ? [...requiredViolations(spec, schema, at), ...policyViolations(policy, id, spec, at)] : [],
  });
}

/**
 * Returns the kind that sync uses for a kind name not declared here. All declared kinds share one scope and one sync
 * rule, so their resources can be sent and stored before and after their definition is known here.
 */
export function undeclaredKind(name: string): Kind {
  const plural = name.toLowerCase();
  const [bareName = name] = name.split('.');
  const schema: Schema = { type: 'object', additionalProperties: true };
  return defineKind({
    name,
    bareName,
    plural,
    shortName: plural,
    ...SHAPE,
    bounds: { bytes: POLICY_BYTES },
    spec: schema,
    schema: { ...interpretSchema(schema), shapeViolation: foreignShape },
  });
}

/**
 * Checks only the size of a spec sent by a peer: the peer may have another version of the definition. The status of the
 * resource reports other violations.
 */
function foreignShape(spec: unknown, at: FieldPath): Violation | undefined {
  if (!isJsonObject(spec)) return at.violation('must be an object', 'wrong-type');
  const reason = jsonShapeViolation(spec);
  return reason === undefined ? undefined : at.violation(reason, 'too-large');
}

/** Returns the schema of a policy: its targets, and the declared spec either bare, under `defaults`, or under `overrides` (T004-20). */
function policySchema(proper: Schema): Schema {
  const { required: _, minProperties: __, maxProperties, ...fields } = proper;
  const wrapped: Schema = { ...proper, properties: { ...proper.properties, strategy: Strategy } };
  return {
    ...fields,
    ...(maxProperties === undefined ? {} : { maxProperties: maxProperties + RESERVED_FIELDS.length }),
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

/** Returns violations for missing required fields of a bare spec, which the schema cannot require (T004-20). */
function requiredViolations(spec: JsonObject, { required = [] }: Schema, at: FieldPath): readonly Violation[] {
  if (spec['defaults'] !== undefined || spec['overrides'] !== undefined) return [];
  return required
    .filter((name) => ownField(spec, name) === undefined)
    .map((name) => at.field(name).violation('is required', 'required'));
}
