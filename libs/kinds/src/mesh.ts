import { Type } from 'typebox';
import { checkName, defineKind, Sync, type FieldPath, type Violation } from '@causeway/resources';
import { nameWarnings, selectorViolations } from './schema/rules';
import { Selector, strict } from './schema/schema-parts';

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
    namespaceSelector: Type.Optional(Selector),
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
  validate: (spec, at) => selectorViolations(spec.namespaceSelector, at.field('namespaceSelector')),
  warn: ({ name }) => nameWarnings(name),
});

/** The name is the value of the label `kuma.io/mesh` of every member, and label values have 63 characters. */
function fitsLabel(name: string, at: FieldPath): Violation[] {
  return name.length > 63 ? [at.violation(`must not be longer than 63 characters, has ${name.length}`)] : [];
}
