import { Type, type Static } from 'typebox';
import { nodeViolations } from '@causeway/appmesh';
import { defineKind, type FieldPath, type Violation } from '@causeway/resources';
import { ClientPolicy, Listener } from './app-mesh/listener';
import {
  appMeshKind,
  appMeshStatus,
  AwsName,
  AwsText,
  checkDistinctListeners,
  MeshRef,
  refuse,
  refuseAwsName,
  refuseMeshRef,
  TypedRef,
  mergeViolations,
} from './app-mesh/parts';
import { selectorViolations } from './schema/rules';
import { Optionals, Selector, strict } from './schema/schema-parts';

const Backend = Type.Object(
  {
    virtualService: Type.Object(
      {
        virtualServiceRef: TypedRef,
        virtualServiceARN: Type.Optional(AwsText),
        clientPolicy: Type.Optional(ClientPolicy),
      },
      strict,
    ),
  },
  strict,
);

const CloudMapAttribute = Type.Object({ key: AwsText, value: AwsText }, strict);
const IpPreference = Type.Enum(['IPv4_PREFERRED', 'IPv4_ONLY', 'IPv6_PREFERRED', 'IPv6_ONLY']);

/** Service discovery of App Mesh; here the instances are the selected Dataplanes, wherever they run. */
const ServiceDiscovery = Optionals({
  dns: Type.Object(
    {
      hostname: Type.String({ minLength: 1, maxLength: 253 }),
      responseType: Type.Optional(Type.Enum(['LOADBALANCER', 'ENDPOINTS'])),
      ipPreference: Type.Optional(IpPreference),
    },
    strict,
  ),
  awsCloudMap: Type.Object(
    {
      namespaceName: Type.String({ minLength: 1, maxLength: 1_024 }),
      serviceName: Type.String({ minLength: 1, maxLength: 1_024 }),
      attributes: Type.Optional(Type.Array(CloudMapAttribute, { maxItems: 64 })),
      ipPreference: Type.Optional(IpPreference),
    },
    strict,
  ),
});

const AccessLogFormat = Optionals({
  text: AwsText,
  json: Type.Array(Type.Object({ key: AwsText, value: AwsText }, strict), { maxItems: 64 }),
});
const Logging = Optionals({
  accessLog: Optionals({
    file: Type.Object({ path: AwsText, format: Type.Optional(AccessLogFormat) }, strict),
  }),
});

const Spec = Type.Partial(
  Type.Object({
    awsName: AwsName,
    /** Absent selects no Dataplane; empty selects all of the namespace (T003-31). */
    podSelector: Selector,
    /** The same selector under this product's name (T003-30). */
    dataplaneSelector: Selector,
    listeners: Type.Array(Listener, { maxItems: 64 }),
    serviceDiscovery: ServiceDiscovery,
    backends: Type.Array(Backend, { maxItems: 256 }),
    backendDefaults: Optionals({ clientPolicy: ClientPolicy }),
    backendGroups: Type.Array(TypedRef, { maxItems: 64 }),
    logging: Logging,
    meshRef: MeshRef,
  }),
  {
    ...strict,
    examples: [
      {
        podSelector: { matchLabels: { app: 'auth', version: 'v1' } },
        listeners: [{ portMapping: { port: 9080, protocol: 'http' } }],
        backends: [{ virtualService: { virtualServiceRef: { name: 'svc-b' } } }],
      },
    ],
  },
);

type NodeSpec = Static<typeof Spec>;

/** The instances of one version of a service, its listeners, and its backends (seed App Mesh v1beta2, T003-01). */
export const VirtualNode = defineKind({
  ...appMeshKind('VirtualNode', 'vn'),
  spec: Spec,
  derive: ({ name, namespace, mesh, spec }) => appMeshStatus(spec['awsName'], `${name}_${namespace}`, mesh),
  validate: (spec, at) => mergeViolations(ownViolations(spec, at), nodeViolations(spec, at)),
  validateAt: ({ namespace }, spec, at) => checkDistinctBackends(spec, namespace, at.field('backends')),
  warn: ({ spec }) => warnings(spec),
});

const TLS = 'proxies encrypt by the MeshIdentity of the mesh (docs/guides/mtls.md)';

const tlsField = (at: FieldPath): FieldPath => at.field('clientPolicy').field('tls');

function ownViolations(spec: NodeSpec, at: FieldPath): Violation[] {
  return [
    ...refuseMeshRef(spec.meshRef, at.field('meshRef')),
    ...checkSelectors(spec, at),
    ...selectorViolations(spec.podSelector, at.field('podSelector')),
    ...selectorViolations(spec.dataplaneSelector, at.field('dataplaneSelector')),
    ...checkDistinctListeners(spec.listeners ?? [], at.field('listeners')),
    ...(spec.listeners ?? []).flatMap((listener, i) => listenerViolations(listener, at.field('listeners').index(i))),
    ...(spec.backends ?? []).flatMap((backend, i) => backendRefusals(backend, at.field('backends').index(i))),
    ...refuse(spec.backendDefaults?.clientPolicy?.tls, tlsField(at.field('backendDefaults')), TLS),
    ...refuse(spec.backendGroups, at.field('backendGroups'), 'list the services in backends'),
    ...refuse(spec.logging, at.field('logging'), 'proxies write no access logs of single nodes'),
  ];
}

function checkSelectors({ podSelector, dataplaneSelector }: NodeSpec, at: FieldPath): Violation[] {
  if (podSelector === undefined || dataplaneSelector === undefined) return [];
  return [at.violation('must have only one of podSelector, dataplaneSelector: they mean the same')];
}

function listenerViolations({ tls, connectionPool = {} }: Static<typeof Listener>, at: FieldPath): Violation[] {
  const pools = Object.keys(connectionPool);
  const several = `must have one protocol at most; has ${pools.join(', ')}`;
  return [
    ...refuse(tls, at.field('tls'), TLS),
    ...(pools.length > 1 ? [at.field('connectionPool').violation(several)] : []),
  ];
}

function backendRefusals({ virtualService }: Static<typeof Backend>, at: FieldPath): Violation[] {
  const { virtualServiceRef, virtualServiceARN, clientPolicy } = virtualService;
  const field = at.field('virtualService');
  return [
    ...refuse(virtualServiceARN, field.field('virtualServiceARN'), 'name the service with virtualServiceRef'),
    ...refuseAwsName(virtualServiceRef, field.field('virtualServiceRef')),
    ...refuse(clientPolicy?.tls, tlsField(field), TLS),
  ];
}

/** Refuses two backends that mean one service, with the node's namespace as default (T003-35). */
function checkDistinctBackends({ backends = [] }: NodeSpec, own: string, at: FieldPath): Violation[] {
  const first = new Map<string, number>();
  return backends.flatMap(({ virtualService: { virtualServiceRef: ref } }, i) => {
    const service = `${ref.namespace || own}/${ref.name}`;
    const earlier = first.get(service);
    if (earlier === undefined) first.set(service, i);
    const field = at.index(i).field('virtualService').field('virtualServiceRef');
    if (earlier === undefined) return [];
    return [field.violation(`must be unique; "${service}" is already at index ${earlier}`, 'not-unique')];
  });
}

function warnings({ podSelector, dataplaneSelector, listeners = [], serviceDiscovery }: NodeSpec): string[] {
  const selectsNone = podSelector === undefined && dataplaneSelector === undefined;
  return [
    ...(selectsNone ? ['spec.podSelector: is absent, so no Dataplane belongs to this node'] : []),
    ...(listeners.length === 0 ? ['spec.listeners: there are none, so nothing can connect to this node'] : []),
    ...Object.keys(serviceDiscovery ?? {}).map(
      (word) =>
        `spec.serviceDiscovery.${word}: is kept and not used; the instances are the Dataplanes that are selected`,
    ),
  ];
}
