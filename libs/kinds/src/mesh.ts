import { Type } from 'typebox';
import { checkName, defineKind, Sync, type FieldPath, type Violation } from '@causeway/resources';
import { nameWarnings } from './schema/rules';
import { MANY, NonEmpty, strict, StringMap, Text } from './schema/schema-parts';

/** The controller name with which this product claims meshes (GEP-3949 `controllerName`). */
const controllerName = 'causeway.io/control-plane';

/** A domain-prefixed path, as the Gateway API defines it. */
const DOMAIN_PATH =
  "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$";

const ParametersRef = Type.Object(
  {
    group: Type.Optional(Type.String({ maxLength: 253 })),
    kind: Type.String({ minLength: 1, maxLength: 63 }),
    name: Type.String({ minLength: 1, maxLength: 253 }),
    namespace: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
  },
  strict,
);

const Expression = Type.Object(
  {
    key: NonEmpty,
    operator: Type.Enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
    values: Type.Optional(Type.Array(Text, { maxItems: MANY })),
  },
  strict,
);

const Spec = Type.Object(
  {
    controllerName: Type.Optional(
      Type.String({
        title: 'a domain and a path such as example.com/mesh',
        minLength: 1,
        maxLength: 253,
        pattern: DOMAIN_PATH,
        default: controllerName,
      }),
    ),
    parametersRef: Type.Optional(ParametersRef),
    description: Type.Optional(Type.String({ maxLength: 64 })),
    namespaceSelector: Type.Optional(
      Type.Object(
        {
          matchLabels: Type.Optional(StringMap),
          matchExpressions: Type.Optional(Type.Array(Expression, { maxItems: 128 })),
        },
        strict,
      ),
    ),
  },
  { ...strict, examples: [{ description: 'everything of the shop' }] },
);

/** A mesh, to which services, policies and names belong (GEP-3949). */
export const Mesh = defineKind({
  name: 'Mesh',
  plural: 'meshes',
  shortName: 'm',
  aliases: ['XMesh'],
  apiVersion: 'gateway.networking.k8s.io/v1alpha1',
  scope: 'global',
  sync: Sync.meshWide,
  writer: 'operator',
  spec: Spec,
  immutable: ['controllerName'],
  checkName: (name, at) => [...checkName(name, at), ...fitsLabel(name, at)],
  validate: (spec, at) => {
    const expressions = at.field('namespaceSelector').field('matchExpressions');
    return (spec.namespaceSelector?.matchExpressions ?? []).flatMap((expression, i) => {
      const given = expression.values?.length ?? 0;
      const field = expressions.index(i).field('values');
      const needed = expression.operator === 'In' || expression.operator === 'NotIn';
      if (needed && given === 0) return [field.violation(`must not be empty with operator ${expression.operator}`)];
      if (!needed && given > 0) return [field.violation(`must be empty with operator ${expression.operator}`)];
      return [];
    });
  },
  warn: ({ name }) => nameWarnings(name),
});

/** The name is the value of the label `kuma.io/mesh` of every member, and label values have 63 characters. */
function fitsLabel(name: string, at: FieldPath): Violation[] {
  return name.length > 63 ? [at.violation(`must not be longer than 63 characters, has ${name.length}`)] : [];
}
