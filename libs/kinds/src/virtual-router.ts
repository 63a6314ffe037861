import { Type, type Static } from 'typebox';
import { routerViolations } from '@causeway/appmesh';
import { defineKind, type FieldPath, type Violation } from '@causeway/resources';
import {
  appMeshKind,
  appMeshStatus,
  AwsName,
  checkDistinctListeners,
  MeshRef,
  PortMapping,
  refuseMeshRef,
  mergeViolations,
} from './app-mesh/parts';
import { VirtualRoute, parseRouteProtocol, routeViolations } from './app-mesh/route';
import { strict } from './schema/schema-parts';

const Listener = Type.Object({ portMapping: PortMapping }, strict);

const Spec = Type.Object(
  {
    awsName: Type.Optional(AwsName),
    listeners: Type.Array(Listener, { minItems: 1, maxItems: 64 }),
    routes: Type.Optional(Type.Array(VirtualRoute, { maxItems: 128 })),
    meshRef: Type.Optional(MeshRef),
  },
  {
    ...strict,
    examples: [
      {
        listeners: [{ portMapping: { port: 9080, protocol: 'http' } }],
        routes: [
          {
            name: 'route-to-auth',
            httpRoute: {
              match: { prefix: '/auth' },
              action: { weightedTargets: [{ virtualNodeRef: { name: 'node-v1' }, weight: 1 }] },
            },
          },
        ],
      },
    ],
  },
);

type RouterSpec = Static<typeof Spec>;

/** The routes of the VirtualServices that name this router; they send requests to VirtualNodes (seed App Mesh v1beta2, T003-01, T003-18). */
export const VirtualRouter = defineKind({
  ...appMeshKind('VirtualRouter', 'vr'),
  spec: Spec,
  derive: ({ name, namespace, mesh, spec }) => appMeshStatus(spec['awsName'], `${name}_${namespace}`, mesh),
  validate: (spec, at) => mergeViolations(ownViolations(spec, at), routerViolations(spec, at)),
  warn: ({ spec: { listeners, routes = [] } }) => routes.flatMap((route, i) => placeWarnings(route, i, listeners)),
});

function ownViolations(spec: RouterSpec, at: FieldPath): Violation[] {
  return [
    ...refuseMeshRef(spec.meshRef, at.field('meshRef')),
    ...checkDistinctListeners(spec.listeners, at.field('listeners')),
    ...checkDistinctNames(spec.routes ?? [], at.field('routes')),
    ...(spec.routes ?? []).flatMap((route, i) => routeViolations(route, at.field('routes').index(i))),
  ];
}

function checkDistinctNames(routes: readonly VirtualRoute[], at: FieldPath): Violation[] {
  const first = new Map<string, number>();
  return routes.flatMap(({ name }, i) => {
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, i);
    const field = at.index(i).field('name');
    if (earlier === undefined) return [];
    return [field.violation(`must be unique; "${name}" is already at index ${earlier}`, 'not-unique')];
  });
}

/** Warns of a route that no listener can use. */
function placeWarnings(route: VirtualRoute, i: number, listeners: RouterSpec['listeners']): string[] {
  const place = parseRouteProtocol(route);
  if (!place) return [];
  const { protocol, port } = place;
  const isThere = listeners.some(
    ({ portMapping }) => portMapping.protocol === protocol && (port === undefined || portMapping.port === port),
  );
  const at = port === undefined ? '' : ` at port ${port}`;
  return isThere ? [] : [`spec.routes[${i}]: no listener speaks ${protocol}${at}, so no request takes this route`];
}
