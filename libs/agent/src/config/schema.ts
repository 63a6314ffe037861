import { Type, type Static } from 'typebox';

const strict = { additionalProperties: false } as const;

/** Maximum number of Dataplanes of one machine: each has a stream, a cache and, with Envoy, a process of its own. */
const MAX_DATAPLANES = 64;
const MAX_SERVICES = 256;
const MAX_OUTBOUNDS = 1_024;
const MAX_CONTROL_PLANES = 16;

const NAME = { minLength: 1, maxLength: 253 } as const;
const Name = Type.String(NAME);
const PATH = { minLength: 1, maxLength: 4_096, pattern: '^/.*$', title: 'an absolute path' } as const;
const PORT = { minimum: 1, maximum: 65_535 } as const;
const Port = Type.Integer(PORT);
const DURATION = {
  title: 'a duration such as 500ms, 10s, 5m, 1h',
  maxLength: 16,
  pattern: '^[0-9]{1,9}(ms|s|m|h)$',
} as const;
const Labels = Type.Record(Type.String(), Type.String({ maxLength: 253 }), {
  maxProperties: 128,
  propertyNames: { maxLength: 317, pattern: '^.*$', title: 'one line' },
});
const HostPort = Type.String({
  title: 'host:port such as 10.0.0.1:5678 or [fd00::1]:5678',
  maxLength: 261,
  pattern: '^(\\[[0-9a-fA-F:.]+\\]|[^:\\[\\]/\\s]+):[0-9]{1,5}$',
});

const HealthCheck = Type.Object(
  {
    tcp: Type.Optional(
      Type.Object({}, { ...strict, description: 'Up while a connection to the service can be made.' }),
    ),
    http: Type.Optional(
      Type.Object(
        {
          path: Type.String({ maxLength: 2_048, pattern: '^/[!-~]*$', title: 'a path such as /healthz', default: '/' }),
          status: Type.Optional(
            Type.Array(Type.Integer({ minimum: 100, maximum: 599 }), {
              minItems: 1,
              maxItems: 64,
              description: 'Statuses that are up; 200 to 299 where it is left out.',
            }),
          ),
          body: Type.Optional(
            Type.String({ maxLength: 1_024, description: 'A text that the first 64 KiB of the answer must contain.' }),
          ),
        },
        strict,
      ),
    ),
    grpc: Type.Optional(
      Type.Object(
        {
          service: Type.String({
            maxLength: 253,
            default: '',
            description: 'The service asked about by `grpc.health.v1`; empty: the server.',
          }),
        },
        strict,
      ),
    ),
    command: Type.Optional(
      Type.Array(Type.String({ maxLength: 4_096 }), {
        minItems: 1,
        maxItems: 64,
        description: 'Program and arguments, started without a shell; up where it ends with 0.',
      }),
    ),
    user: Type.Optional(
      Type.String({ minLength: 1, maxLength: 32, description: 'Who runs `command`; needs an agent that is root.' }),
    ),
    interval: Type.String({ ...DURATION, default: '10s' }),
    timeout: Type.String({ ...DURATION, default: '2s' }),
    healthyThreshold: Type.Integer({ minimum: 1, maximum: 100, default: 1 }),
    unhealthyThreshold: Type.Integer({ minimum: 1, maximum: 100, default: 2 }),
  },
  { ...strict, description: 'How it is found out whether the service works: one of tcp, http, grpc, command.' },
);

const Service = Type.Object(
  {
    name: Type.String({
      ...NAME,
      description: 'The service that this process is an instance of (tag `kuma.io/service`).',
    }),
    port: Type.Integer({ ...PORT, description: 'Where the proxy takes connections of the mesh.' }),
    servicePort: Type.Optional(
      Type.Integer({ ...PORT, description: 'Where the process listens; as `port` where it is left out.' }),
    ),
    serviceAddress: Type.String({
      ...NAME,
      default: '127.0.0.1',
      description: 'Where the process listens: an IP address of this machine.',
    }),
    protocol: Type.Enum(['tcp', 'http', 'http2', 'grpc', 'kafka'], { default: 'tcp' }),
    portName: Type.Optional(Type.String({ ...NAME, description: 'The name of the port in the MeshService.' })),
    tags: Type.Optional(Labels),
    guardInbound: Type.Boolean({
      default: false,
      description: 'Lets only the proxy reach the process, by a rule of nftables.',
    }),
    health: Type.Optional(HealthCheck),
  },
  strict,
);

const Outbound = Type.Object(
  {
    address: Type.String({ ...NAME, default: '127.0.0.1' }),
    port: Port,
    backend: Type.Object(
      {
        kind: Type.Enum(['MeshService', 'MeshMultiZoneService', 'MeshExternalService'], { default: 'MeshService' }),
        name: Type.Optional(Name),
        labels: Type.Optional(Labels),
        port: Type.Optional({
          ...Port,
          description:
            'A port of the service, as its spec lists it, not `targetPort`; left out: the lowest of the service that is chosen. One that no service has is not served (`BreaksEnvoyRules`).',
        }),
      },
      strict,
    ),
  },
  { ...strict, description: 'A service at an address and port of loopback.' },
);

const Backend = Type.Object(
  {
    kind: Type.Enum(['MeshService', 'MeshMultiZoneService', 'MeshExternalService'], { default: 'MeshService' }),
    name: Type.Optional(Name),
    namespace: Type.Optional(Name),
    labels: Type.Optional(Labels),
    port: Type.Optional(Port),
  },
  strict,
);

const Clients = Type.Object(
  {
    users: Type.Array(
      Type.String({
        maxLength: 32,
        pattern: '^([0-9]{1,10}|[A-Za-z_][A-Za-z0-9_.-]*)$',
        title: 'a user name or number',
      }),
      { minItems: 1, maxItems: 64, description: 'What their processes dial is dialled as this Dataplane.' },
    ),
  },
  {
    ...strict,
    description:
      'Whose programs call as this Dataplane, where `capture` is redirect and Envoy carries it; left out: of the first Dataplane, those of everybody else.',
  },
);

const AgentDataplane = Type.Object(
  {
    name: Type.String({ ...NAME, description: 'Of the Dataplane; other machines have other ones.' }),
    namespace: Type.String({
      minLength: 1,
      maxLength: 63,
      default: 'default',
      description: 'Of the Dataplane: the one that its token grants (`causeway tokens dataplane --namespace`).',
    }),
    address: Type.String({ ...NAME, description: 'The IP address at which other machines reach this one.' }),
    labels: Type.Optional(Labels),
    services: Type.Array(Service, { maxItems: MAX_SERVICES, default: [] }),
    outbounds: Type.Array(Outbound, { maxItems: MAX_OUTBOUNDS, default: [] }),
    backends: Type.Optional(
      Type.Array(Backend, {
        maxItems: MAX_OUTBOUNDS,
        description:
          'Services that it calls, configured in its proxy beforehand; with `bind` the proxy listens at these addresses only.',
      }),
    ),
    clients: Type.Optional(Clients),
    tokenFile: Type.Optional(
      Type.String({
        ...PATH,
        description:
          'A token of its own: one that names a Dataplane or a workload is good for the identity of that alone.',
      }),
    ),
  },
  strict,
);

const Ingress = Type.Object(
  { name: Type.String({ ...NAME, description: 'Of the ZoneIngress, which says where it listens.' }) },
  { ...strict, description: "Runs the zone's ingress instead of Dataplanes." },
);

/** The configuration file of an agent (docs/reference/agent.md, which is made of it). */
export const AgentSchema = Type.Object(
  {
    controlPlanes: Type.Optional(
      Type.Array(HostPort, {
        minItems: 1,
        maxItems: MAX_CONTROL_PLANES,
        description: "xDS ports of the zone's replicas, the preferred one first; else those of the bundle.",
      }),
    ),
    bundle: Type.Optional(
      Type.String({
        ...PATH,
        description:
          'What `causeway tokens dataplane --bundle` printed, of an ingress `causeway tokens zone --bundle`.',
      }),
    ),
    tokenFile: Type.Optional(
      Type.String({ ...PATH, description: 'A token instead of that of the bundle; of an ingress, a zone token.' }),
    ),
    authorityFile: Type.Optional(
      Type.String({ ...PATH, description: 'Certificates (PEM) that verify the control planes, without a bundle.' }),
    ),
    mesh: Type.String({ ...NAME, default: 'default' }),
    plane: Type.Optional(
      Type.Enum(['envoy', 'builtin', 'direct', 'grpc'], {
        description: 'What carries the traffic; `envoy` where it is found, else `builtin`.',
      }),
    ),
    trustedNetworks: Type.Optional(
      Type.Array(Type.String({ maxLength: 49, title: 'a range such as 10.0.0.0/8' }), {
        minItems: 1,
        maxItems: 64,
        description:
          'Ranges in which every machine, and the network between them, is trusted: the plane `direct` sends and takes plain text there.',
      }),
    ),
    mayDial: Type.Optional(
      Type.Array(
        Type.String({ maxLength: 64, title: '`default`, or a range such as 10.0.0.0/8, with ! to refuse it' }),
        {
          maxItems: 1_000,
          description:
            'Where its proxies dial, whatever the zone says; its own services always. Left out: `default`, all but loopback, link-local and metadata addresses ([below](#where-an-agent-dials)).',
        },
      ),
    ),
    envoy: Type.Optional(
      Type.Object(
        {
          path: Type.Optional(Type.String({ ...PATH, description: 'Else CAUSEWAY_ENVOY, else `envoy` of the PATH.' })),
          concurrency: Type.Integer({ minimum: 1, maximum: 256, default: 2, description: 'Threads of each Envoy.' }),
        },
        strict,
      ),
    ),
    builtin: Type.Optional(
      Type.Object(
        {
          processes: Type.Integer({
            minimum: 1,
            maximum: 64,
            default: 1,
            description: 'Processes that carry the traffic, for as many cores; 1: that of the agent.',
          }),
        },
        { ...strict, description: 'The builtin plane.' },
      ),
    ),
    capture: Type.Enum(['bind', 'redirect', 'outbounds', 'none'], {
      default: 'outbounds',
      description: 'How connections to virtual IPs reach the proxy of the first Dataplane (docs/guides/capture.md).',
    }),
    redirect: Type.Optional(
      Type.Object(
        {
          port: Type.Integer({ ...PORT, default: 15_001 }),
          reentryPort: Type.Integer({ ...PORT, default: 15_011 }),
          ranges: Type.Optional(
            Type.Array(Type.String({ maxLength: 49, title: 'a range such as 241.0.0.0/8' }), {
              minItems: 1,
              maxItems: 64,
              description: 'Instead of the ranges that the zone tells.',
            }),
          ),
        },
        strict,
      ),
    ),
    dataplanes: Type.Array(AgentDataplane, { maxItems: MAX_DATAPLANES, default: [] }),
    ingress: Type.Optional(Ingress),
    dns: Type.Optional(
      Type.Object(
        {
          address: Type.String({ ...NAME, default: '127.0.0.1', description: 'Of loopback.' }),
          port: Type.Integer({ ...PORT, default: 5_300 }),
          suffixes: Type.Optional(
            Type.Array(Type.String(NAME), {
              minItems: 1,
              maxItems: 64,
              description:
                "Names under these are the mesh's; left out: those that the zone tells, `mesh.local` before it has.",
            }),
          ),
          upstream: Type.Array(HostPort, {
            maxItems: 8,
            default: [],
            description: 'Servers that are asked for names outside the mesh; none: those are refused.',
          }),
        },
        { ...strict, description: "Answers the mesh's names on loopback; left out: no DNS." },
      ),
    ),
    metrics: Type.Optional(
      Type.Object(
        {
          address: Type.String({
            ...NAME,
            default: '127.0.0.1',
            description:
              'That of a Dataplane, 0.0.0.0 or ::: the zone then tells Prometheus, and others can read them.',
          }),
          port: Type.Integer({ ...PORT, default: 9_902 }),
        },
        { ...strict, description: 'Metrics for Prometheus; left out: none.' },
      ),
    ),
    state: Type.Optional(
      Type.String({
        ...PATH,
        description: 'The folder of keys, certificates, sockets and cached resources; of this agent alone.',
      }),
    ),
    drainTime: Type.String({
      ...DURATION,
      default: '30s',
      description: 'How long open connections have when the agent is asked to end.',
    }),
    logLevel: Type.Enum(['debug', 'info', 'warn', 'error'], { default: 'info' }),
  },
  strict,
);

export type AgentConfig = Static<typeof AgentSchema>;
export type DataplaneConfig = Static<typeof AgentDataplane>;
export type ServiceConfig = Static<typeof Service>;
export type HealthCheckConfig = Static<typeof HealthCheck>;
export type OutboundConfig = Static<typeof Outbound>;
