import { Type, type Static } from 'typebox';
import { defineKind, type FieldPath, type Violation } from '@causeway/resources';
import {
  appMeshKind,
  appMeshStatus,
  AwsName,
  AwsText,
  MeshRef,
  refuse,
  refuseAwsName,
  refuseMeshRef,
  TypedRef,
} from './app-mesh/parts';
import { Optionals, strict } from './schema/schema-parts';

/** Nested, so that a provider can get further fields (seed App Mesh v1beta2, "Decouple VirtualRouter"). */
const Provider = Optionals({
  virtualNode: Type.Object({ virtualNodeRef: TypedRef, virtualNodeARN: Type.Optional(AwsText) }, strict),
  virtualRouter: Type.Object({ virtualRouterRef: TypedRef, virtualRouterARN: Type.Optional(AwsText) }, strict),
});

const Spec = Type.Partial(Type.Object({ awsName: AwsName, provider: Provider, meshRef: MeshRef }), {
  ...strict,
  examples: [{ provider: { virtualRouter: { virtualRouterRef: { name: 'svc-a-router' } } } }],
});

/** Maximum length of a label value; a longer `awsName` gives no hostname. */
const MAX_LABEL_LENGTH = 63;

/**
 * Service that clients call: a VirtualNode, or the routes of a VirtualRouter; without a provider it answers 503 (seed
 * App Mesh v1beta2, T003-01, T003-15).
 */
export const VirtualService = defineKind({
  ...appMeshKind('VirtualService', 'vs'),
  spec: Spec,
  derive: ({ name, namespace, mesh, spec }) => appMeshStatus(spec['awsName'], `${name}.${namespace}`, mesh),
  validate: (spec, at) => [
    ...refuseMeshRef(spec.meshRef, at.field('meshRef')),
    ...providerViolations(spec.provider ?? {}, at.field('provider')),
  ],
  warn: ({ spec: { awsName = '', provider } }) => [
    ...(Object.keys(provider ?? {}).length === 0
      ? ['spec.provider: there is none, so the ports of the last one answer 503, and without such nothing answers']
      : []),
    ...(awsName.length > MAX_LABEL_LENGTH
      ? [`spec.awsName: has more than ${MAX_LABEL_LENGTH} characters, so no hostname is made of it`]
      : []),
  ],
});

function providerViolations({ virtualNode, virtualRouter }: Static<typeof Provider>, at: FieldPath): Violation[] {
  const [node, router] = [at.field('virtualNode'), at.field('virtualRouter')];
  const both = virtualNode !== undefined && virtualRouter !== undefined;
  return [
    ...(both ? [at.violation('must have only one of virtualNode, virtualRouter')] : []),
    ...refuse(virtualNode?.virtualNodeARN, node.field('virtualNodeARN'), 'name the node with virtualNodeRef'),
    ...(virtualNode ? refuseAwsName(virtualNode.virtualNodeRef, node.field('virtualNodeRef')) : []),
    ...refuse(
      virtualRouter?.virtualRouterARN,
      router.field('virtualRouterARN'),
      'name the router with virtualRouterRef',
    ),
    ...(virtualRouter ? refuseAwsName(virtualRouter.virtualRouterRef, router.field('virtualRouterRef')) : []),
  ];
}
