import { Type, type Static } from 'typebox';
import {
  crossNamespaceRules,
  definitionViolations,
  levels,
  readDefinition,
  SHIPPED_GROUP,
  shippedPolicies,
  strategies,
} from '@causeway/policies';
import { compileSchema, defineKind, Sync, type JsonObject, type FieldPath, type Violation } from '@causeway/resources';
import { declaredSchema } from './declared/declared-schema';
import { isReservedName } from './declared/reserved-names';
import { Group } from './schema/route-parts';
import { FreeMap, strict, Text } from './schema/schema-parts';

const Kind = Type.String({
  title: 'a kind such as ColorPolicy',
  minLength: 2,
  maxLength: 63,
  pattern: '^[A-Z][A-Za-z0-9]*$',
});
const Noun = Type.String({
  title: 'lower-case letters and digits, beginning with a letter',
  minLength: 2,
  maxLength: 63,
  pattern: '^[a-z][a-z0-9]*$',
});
const OwnGroup = Type.String({
  title: 'a domain such as policies.example.com',
  minLength: 1,
  maxLength: 253,
  pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$',
});
const Semantics = Type.String({ minLength: 1, maxLength: 1_024 });
const Level = Type.Enum([...levels]);

const DeclaredTarget = Type.Object(
  {
    kind: Kind,
    group: Type.Optional(Group),
    facet: Type.Optional(Type.Enum(['frontend', 'backend'])),
    semantics: Semantics,
  },
  strict,
);

const Spec = Type.Object(
  {
    group: OwnGroup,
    kind: Kind,
    plural: Noun,
    shortName: Type.Optional(Noun),
    qualified: Type.Optional(Type.Boolean()),
    description: Type.Optional(Text),
    hierarchy: Type.Union([
      Type.Array(Level, { minItems: 1, maxItems: 16 }),
      Type.Enum(['mesh', 'gateway'], { type: 'string' }),
    ]),
    declaredTargets: Type.Array(DeclaredTarget, { minItems: 1, maxItems: 16 }),
    effectiveTarget: Type.Object({ level: Level, semantics: Semantics }, strict),
    mergeStrategies: Type.Optional(Type.Array(Type.Enum([...strategies]), { minItems: 1, maxItems: 8 })),
    crossNamespace: Type.Optional(Type.Enum([...crossNamespaceRules])),
    virtualTargets: Type.Optional(
      Type.Array(Type.Object({ group: OwnGroup, kind: Kind, semantics: Semantics }, strict), { maxItems: 16 }),
    ),
    class: Type.Optional(Type.Enum(['Direct', 'Inherited'])),
    writer: Type.Optional(Type.Enum(['owner', 'operator'])),
    schema: FreeMap,
  },
  {
    ...strict,
    examples: [
      {
        group: 'policies.example.com',
        kind: 'PaintPolicy',
        plural: 'paintpolicies',
        hierarchy: 'mesh',
        declaredTargets: [{ kind: 'Namespace', semantics: 'paints the requests to services of the namespace' }],
        effectiveTarget: { level: 'Rule', semantics: 'paints the requests that match the rule' },
        schema: { type: 'object', properties: { colour: { type: 'string', enum: ['red', 'blue'] } } },
      },
    ],
  },
);

const { fits } = compileSchema(Spec);

export type MetaresourceDefinitionSpec = Static<typeof Spec>;

/** Declares a kind of policy, whose instances are then resources like all others (seed GEP-713; docs/reference/policies.md). */
export const MetaresourceDefinition = defineKind({
  name: 'MetaresourceDefinition',
  plural: 'metaresourcedefinitions',
  shortName: 'mrd',
  apiVersion: 'causeway.io/v1alpha1',
  scope: 'global',
  sync: Sync.settings,
  writer: 'operator',
  bounds: { bytes: 64 * 1024 },
  spec: Spec,
  immutable: ['group', 'kind', 'plural', 'qualified'],
  pending: ['Accepted'],
  derive: ({ spec }) => derivedStatus(spec),
  validate: (spec, at) => [...nameViolations(spec, at), ...declaredSchema(spec.schema, at.field('schema')).violations],
  validateAt: (_id, spec, at) => definitionViolations(spec, at),
});

/** Names of the kind that a definition declares. */
export type DeclaredNames = Readonly<Record<'name' | 'bareName' | 'plural' | 'shortName', string>>;

type NamedSpec = Pick<MetaresourceDefinitionSpec, 'group' | 'kind' | 'plural'> &
  Partial<Pick<MetaresourceDefinitionSpec, 'shortName' | 'qualified'>>;

const SHIPPED_WORDS: ReadonlySet<string> = new Set(
  shippedPolicies.flatMap(({ kind, plural, shortName }) => [kind.toLowerCase(), plural, shortName]),
);

/**
 * Returns the names of a definition's kind. If another kind already has the name (`spec.qualified`), each name has the group appended: the
 * bare name keeps meaning the built-in or first declared kind. Depends on the spec only, so that the names are the same everywhere.
 */
export function declaredNames({
  group,
  kind,
  plural,
  shortName = kind.toLowerCase(),
  qualified,
}: NamedSpec): DeclaredNames {
  const words = [kind.toLowerCase(), plural, shortName];
  const isSecond = qualified === true || (group !== SHIPPED_GROUP && words.some((word) => SHIPPED_WORDS.has(word)));
  const behind = isSecond ? `.${group}` : '';
  return { name: kind + behind, bareName: kind, plural: plural + behind, shortName: shortName + behind };
}

/** Returns the kind name of a stored definition, which may be invalid; undefined if it has none. */
export function declaredName({ group, kind, plural, shortName, qualified }: JsonObject): string | undefined {
  if (typeof kind !== 'string' || typeof group !== 'string' || typeof plural !== 'string') return undefined;
  const isSecond = qualified === true && { qualified };
  return declaredNames({ group, kind, plural, ...(typeof shortName === 'string' && { shortName }), ...isSecond }).name;
}

/** Maximum length of a qualified kind name: peers, quarantines and resume points accept no longer names. */
const MAX_QUALIFIED_LENGTH = 100;

/** Whether the qualified names of a kind are short enough to be sent and stored everywhere. */
export const canBeQualified = (spec: NamedSpec): boolean => {
  const { name, plural } = declaredNames({ ...spec, qualified: true });
  return Math.max(name.length, plural.length) <= MAX_QUALIFIED_LENGTH;
};

/** Whether a kind name is qualified: it has the group appended. */
export const isQualifiedName = (name: string): boolean => name.includes('.');

/** Returns the status derived from the spec: the class, the strategies (T004-29, T004-30, T004-34), and the qualified names. */
function derivedStatus(spec: JsonObject): JsonObject {
  if (!fits(spec)) return {};
  const definition = readDefinition(spec);
  if (!definition) return {};
  const { name, plural, shortName } = declaredNames(spec);
  const names = isQualifiedName(name) && { names: { kind: name, plural, shortName } };
  return { class: definition.class, mergeStrategies: [...definition.strategies], ...names };
}

/**
 * Returns violations for reserved names. Conflicts with other definitions do not block a write; a condition reports
 * them (`DefinitionEvaluator`).
 */
function nameViolations(spec: MetaresourceDefinitionSpec, at: FieldPath): readonly Violation[] {
  const isTooLong = isQualifiedName(declaredNames(spec).name) && !canBeQualified(spec);
  const long = `makes the name of the kind longer than ${MAX_QUALIFIED_LENGTH} characters: ${spec.kind}.${spec.group}`;
  if (isTooLong) return [at.field('group').violation(long, 'too-long')];
  return (['kind', 'plural', 'shortName'] as const).flatMap((field) => {
    const word = spec[field];
    if (word === undefined || !isReservedName(word)) return [];
    return [
      at
        .field(field)
        .violation(`is reserved: Mesh…, kinds of this control plane and of Kuma; got "${word}"`, 'not-allowed'),
    ];
  });
}
