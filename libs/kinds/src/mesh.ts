import { Type } from 'typebox';
import { checkName, defineKind, Sync, type FieldPath, type Violation } from '@causeway/resources';
import { checkMeshMtls, MeshMtls } from './schema/mesh-mtls';
import { nameWarnings, selectorViolations } from './schema/rules';
import { Optionals, Selector, strict } from './schema/schema-parts';

/** A domain, as the Gateway API defines it. */
const DOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';

/** Reference with the schema of XMesh; a version in the group is dropped when it is read. */
const ParametersRef = Type.Object(
  {
    group: Type.Optional(
      Type.String({
        title: 'a domain such as example.com, or ""',
        maxLength: 253,
        pattern: `^$|^${DOMAIN}(/[a-z0-9]+)?$`,
      }),
    ),
    kind: Type.String({
      title: 'letters, digits and inner dashes, the first a letter',
      minLength: 1,
      maxLength: 63,
      pattern: '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$',
    }),
    name: Type.String({ minLength: 1, maxLength: 253 }),
    namespace: Type.Optional(
      Type.String({
        title: 'lower-case letters, digits and inner dashes',
        minLength: 1,
        maxLength: 63,
        pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
      }),
    ),
  },
  strict,
);

const Spec = Type.Object(
  {
    /** Controller that manages the Mesh; if absent, admission sets the control plane's own (row T000-06). */
    controllerName: Type.Optional(
      Type.String({
        title: 'a domain and a path such as example.com/mesh',
        minLength: 1,
        maxLength: 253,
        pattern: `^${DOMAIN}\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$`,
      }),
    ),
    /** The name at App Mesh; absent means the name (row T003-04). */
    awsName: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    parametersRef: Type.Optional(ParametersRef),
    description: Type.Optional(Type.String({ maxLength: 64 })),
    namespaceSelector: Type.Optional(Selector),
    mtls: Type.Optional(MeshMtls),
    /** Used by Kuma zones only, whose proxies have a MeshIdentity only with Exclusive; absent means Everywhere. */
    meshServices: Type.Optional(
      Optionals({ mode: Type.Enum(['Disabled', 'Everywhere', 'ReachableBackends', 'Exclusive']) }),
    ),
  },
  { ...strict, examples: [{ description: 'everything of the shop' }] },
);

/** A mesh: the scope of services, policies and names (GEP-3949; App Mesh v1beta2). */
export const Mesh = defineKind({
  name: 'Mesh',
  plural: 'meshes',
  shortName: 'm',
  aliases: [
    {
      name: 'XMesh',
      plural: 'xmeshes',
      apiVersion: 'gateway.networking.x-k8s.io/v1alpha1',
      required: ['controllerName'],
    },
  ],
  apiVersion: 'gateway.networking.k8s.io/v1alpha1',
  otherGroups: ['kuma.io', 'appmesh.k8s.aws', 'gateway.networking.x-k8s.io'],
  scope: 'global',
  sync: Sync.meshWide,
  writer: 'operator',
  spec: Spec,
  immutable: ['controllerName', 'awsName'],
  derive: ({ name, spec: { awsName } }) => ({ awsName: typeof awsName === 'string' ? awsName : name }),
  pending: ['Accepted'],
  checkName: (name, at) => [...checkName(name, at), ...checkNameLength(name, at)],
  validate: (spec, at) => [
    ...selectorViolations(spec.namespaceSelector, at.field('namespaceSelector')),
    ...checkMeshMtls(spec.mtls, at.field('mtls')),
  ],
  warn: ({ name, spec }) => [
    ...nameWarnings(name),
    ...(spec.meshServices
      ? ['spec.meshServices: is read by zones of Kuma only; every mesh works with MeshServices here']
      : []),
    ...(spec.mtls?.enabledBackend
      ? ['spec.mtls: is for zones of Kuma 2.14: every one of them gets the key of this authority']
      : []),
  ],
});

/** Limits the length: the name is the value of the label `kuma.io/mesh` of every member, and label values have at most 63 characters. */
function checkNameLength(name: string, at: FieldPath): Violation[] {
  return name.length > 63 ? [at.violation(`must not be longer than 63 characters, has ${name.length}`)] : [];
}
