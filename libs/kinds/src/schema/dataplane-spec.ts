import { Type, type Static } from 'typebox';
import { HTTP_ROLE } from '@causeway/resources';
import {
  FreeMap,
  MAX_ITEMS,
  NonEmpty,
  Optionals,
  PortNumber,
  protocols,
  strict,
  StringMap,
  Text,
  MAX_REFERENCES,
} from './schema-parts';

/** A duration in protobuf's JSON form, such as 1.5s. */
const Seconds = Type.String({
  title: 'seconds such as 10s or 0.5s',
  maxLength: 32,
  pattern: '^[0-9]+(\\.[0-9]{1,9})?s$',
});

const ServiceProbe = Optionals({
  interval: Seconds,
  timeout: Seconds,
  unhealthyThreshold: Type.Integer({ minimum: 1 }),
  healthyThreshold: Type.Integer({ minimum: 1 }),
  tcp: Type.Object({}, strict),
});

const Inbound = Type.Object(
  {
    port: PortNumber,
    /** Port at which the application listens; absent means `port`. */
    servicePort: Type.Optional(PortNumber),
    address: Type.Optional(NonEmpty),
    serviceAddress: Type.Optional(NonEmpty),
    name: Type.Optional(Text),
    protocol: Type.Optional(Type.Enum(protocols)),
    tags: Type.Optional(StringMap),
    /** Absent means Ready. */
    state: Type.Optional(Type.Enum(['Ready', 'NotReady', 'Ignored'])),
    health: Type.Optional(Optionals({ ready: Type.Boolean() })),
    serviceProbe: Type.Optional(ServiceProbe),
  },
  strict,
);

const serviceKinds = ['MeshService', 'MeshMultiZoneService', 'MeshExternalService'] as const;

const Outbound = Type.Object(
  {
    address: Type.Optional(NonEmpty),
    port: PortNumber,
    tags: Type.Optional(StringMap),
    backendRef: Type.Optional(
      Type.Object(
        {
          kind: Type.Enum(serviceKinds),
          name: Type.Optional(NonEmpty),
          port: Type.Optional(PortNumber),
          labels: Type.Optional(StringMap),
        },
        strict,
      ),
    ),
  },
  strict,
);

const Gateway = Optionals({ tags: StringMap, type: Type.Enum(['DELEGATED', 'BUILTIN']) });

const Listener = Type.Object(
  {
    type: Type.Enum(['ZoneIngress', 'ZoneEgress']),
    address: NonEmpty,
    port: PortNumber,
    name: Type.Optional(NonEmpty),
    state: Type.Optional(Type.Enum(['Ready', 'NotReady'])),
  },
  strict,
);

const ReachableBackend = Type.Object(
  {
    kind: Type.Enum(serviceKinds),
    name: Type.Optional(NonEmpty),
    namespace: Type.Optional(NonEmpty),
    port: Type.Optional(PortNumber),
    labels: Type.Optional(StringMap),
  },
  strict,
);

/** Port to which connections are redirected; 0 disables the redirection of one direction. */
const RedirectPort = Type.Integer({ minimum: 0, maximum: 65535 });

const TransparentProxying = Optionals({
  redirectPortInbound: RedirectPort,
  redirectPortOutbound: RedirectPort,
  directAccessServices: Type.Array(Text, { maxItems: MAX_REFERENCES }),
  reachableServices: Type.Array(Text, { maxItems: MAX_REFERENCES }),
  ipFamilyMode: Type.Enum(['UnSpecified', 'DualStack', 'IPv4', 'IPv6']),
  reachableBackends: Optionals({ refs: Type.Array(ReachableBackend, { maxItems: MAX_REFERENCES }) }),
});

const Networking = Type.Object(
  {
    address: NonEmpty,
    advertisedAddress: Type.Optional(NonEmpty),
    inbound: Type.Optional(Type.Array(Inbound, { maxItems: MAX_ITEMS })),
    outbound: Type.Optional(Type.Array(Outbound, { maxItems: MAX_REFERENCES })),
    gateway: Type.Optional(Gateway),
    listeners: Type.Optional(Type.Array(Listener, { maxItems: MAX_ITEMS })),
    transparentProxying: Type.Optional(TransparentProxying),
    admin: Type.Optional(Type.Object({ port: PortNumber }, strict)),
  },
  strict,
);

const Metrics = Type.Object(
  {
    name: Type.Optional(Text),
    type: NonEmpty,
    conf: Type.Optional(FreeMap),
  },
  strict,
);

/** Path that a Kubernetes probe requests. */
const ProbePath = Type.String({ maxLength: 1_024, [HTTP_ROLE]: 'new path' });

const Probes = Type.Object(
  {
    port: PortNumber,
    endpoints: Type.Optional(
      Type.Array(Type.Object({ inboundPort: PortNumber, inboundPath: ProbePath, path: ProbePath }, strict), {
        maxItems: MAX_ITEMS,
      }),
    ),
  },
  strict,
);

/**
 * Every field of Kuma 2.14's Dataplane (docs/reference/kuma-rest.md §3.7, docs/reference/kuma-2.14.md §1), and the services that
 * the host's credential grants, written by the control plane: the Dataplane serves no others (docs/reference/enrolments.md).
 */
export const DataplaneSpec = Type.Object(
  {
    networking: Networking,
    metrics: Type.Optional(Metrics),
    probes: Type.Optional(Probes),
    grantedServices: Type.Optional(Type.Array(NonEmpty, { maxItems: MAX_ITEMS })),
  },
  {
    ...strict,
    examples: [
      { networking: { address: '10.0.0.1', inbound: [{ port: 6379, tags: { 'kuma.io/service': 'redis' } }] } },
    ],
  },
);

export type DataplaneNetworking = Static<typeof Networking>;
export type InboundSpec = Static<typeof Inbound>;
export type DataplaneOutbound = Static<typeof Outbound>;
export type DataplaneListener = Static<typeof Listener>;
export type ReachableBackend = Static<typeof ReachableBackend>;
