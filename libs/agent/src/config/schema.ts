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
    tcp: Type.Optional(Type.Object({}, { ...strict, description: 'Passes if a connection can be made.' })),
    http: Type.Optional(
      Type.Object(
        {
          path: Type.String({ maxLength: 2_048, pattern: '^/[!-~]*$', title: 'a path such as /healthz', default: '/' }),
          status: Type.Optional(
            Type.Array(Type.Integer({ minimum: 100, maximum: 599 }), {
              minItems: 1,
              maxItems: 64,
              description: 'Accepted status codes; default: 200 to 299.',
            }),
          ),
          body: Type.Optional(
            Type.String({ maxLength: 1_024, description: 'Text that the first 64 KiB of the body must contain.' }),
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
            description: 'Service name for `grpc.health.v1`; empty: the whole server.',
          }),
        },
        strict,
      ),
    ),
    command: Type.Optional(
      Type.Array(Type.String({ maxLength: 4_096 }), {
        minItems: 1,
        maxItems: 64,
        description: 'Program and arguments, run without a shell; passes if it exits with 0.',
      }),
    ),
    user: Type.Optional(
      Type.String({ minLength: 1, maxLength: 32, description: 'User that runs `command`; the agent must be root.' }),
    ),
    interval: Type.String({ ...DURATION, default: '10s' }),
    timeout: Type.String({ ...DURATION, default: '2s' }),
    healthyThreshold: Type.Integer({ minimum: 1, maximum: 100, default: 1 }),
    unhealthyThreshold: Type.Integer({ minimum: 1, maximum: 100, default: 2 }),
  },
  { ...strict, description: 'Health check of the service: one of tcp, http, grpc, command.' },
);

const Service = Type.Object(
  {
    name: Type.String({
      ...NAME,
      description: 'The service that this process is an instance of (tag `kuma.io/service`).',
    }),
    port: Type.Integer({ ...PORT, description: 'Port at which the proxy accepts connections of the mesh.' }),
    servicePort: Type.Optional(Type.Integer({ ...PORT, description: 'Port of the process; default: `port`.' })),
    serviceAddress: Type.String({
      ...NAME,
      default: '127.0.0.1',
      description: 'Address of the process: an IP address of this machine.',
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
      { minItems: 1, maxItems: 64, description: 'Users whose processes call as this Dataplane.' },
    ),
  },
  {
    ...strict,
    description:
      'Users whose programs call as this Dataplane, if `capture` is redirect and the plane is Envoy; default for the first Dataplane: all other users.',
  },
);

const AgentDataplane = Type.Object(
  {
    name: Type.String({ ...NAME, description: 'Name of the Dataplane, unique among machines.' }),
    namespace: Type.String({
      minLength: 1,
      maxLength: 63,
      default: 'default',
      description: 'Namespace of the Dataplane, as granted by its token (`causeway tokens dataplane --namespace`).',
    }),
    address: Type.String({ ...NAME, description: 'The IP address at which other machines reach this one.' }),
    labels: Type.Optional(Labels),
    services: Type.Array(Service, { maxItems: MAX_SERVICES, default: [] }),
    outbounds: Type.Array(Outbound, { maxItems: MAX_OUTBOUNDS, default: [] }),
    backends: Type.Optional(
      Type.Array(Backend, {
        maxItems: MAX_OUTBOUNDS,
        description:
          'Services that it calls, configured in its proxy in advance; with `bind` the proxy listens at their addresses only.',
      }),
    ),
    clients: Type.Optional(Clients),
    tokenFile: Type.Optional(
      Type.String({
        ...PATH,
        description:
          'Token of this Dataplane only: a token that names a Dataplane or a workload is valid for that identity only.',
      }),
    ),
  },
  strict,
);

const Ingress = Type.Object(
  { name: Type.String({ ...NAME, description: 'Name of the ZoneIngress, which has its address.' }) },
  { ...strict, description: "Runs the zone's ingress instead of Dataplanes." },
);

/** Schema of the agent's configuration file, from which docs/reference/agent.md is generated. */
export const AgentSchema = Type.Object(
  {
    controlPlanes: Type.Optional(
      Type.Array(HostPort, {
        minItems: 1,
        maxItems: MAX_CONTROL_PLANES,
        description: "xDS ports of the zone's replicas, the preferred one first; default: those of the bundle.",
      }),
    ),
    bundle: Type.Optional(
      Type.String({
        ...PATH,
        description:
          'Output of `causeway tokens dataplane --bundle`; for an ingress, of `causeway tokens zone --bundle`.',
      }),
    ),
    tokenFile: Type.Optional(
      Type.String({ ...PATH, description: 'Token instead of that of the bundle; for an ingress, a zone token.' }),
    ),
    authorityFile: Type.Optional(
      Type.String({ ...PATH, description: 'Certificates (PEM) that verify the control planes, without a bundle.' }),
    ),
    mesh: Type.String({ ...NAME, default: 'default' }),
    plane: Type.Optional(
      Type.Enum(['envoy', 'builtin', 'direct', 'grpc'], {
        description: 'Dataplane mode; default: `envoy` if it is found, else `builtin`.',
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
            'Addresses that its proxies may dial, whatever the zone sends; its own services are always allowed. Default: `default`, all but loopback, link-local and metadata addresses ([below](#where-an-agent-dials)).',
        },
      ),
    ),
    envoy: Type.Optional(
      Type.Object(
        {
          path: Type.Optional(
            Type.String({ ...PATH, description: 'Path of Envoy; default: CAUSEWAY_ENVOY, else `envoy` on the PATH.' }),
          ),
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
            description: 'Number of processes that carry the traffic, one per core; 1: the agent itself.',
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
              description: 'Ranges to use instead of those that the zone sends.',
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
          address: Type.String({ ...NAME, default: '127.0.0.1', description: 'Address of loopback.' }),
          port: Type.Integer({ ...PORT, default: 5_300 }),
          suffixes: Type.Optional(
            Type.Array(Type.String(NAME), {
              minItems: 1,
              maxItems: 64,
              description: "Suffixes of the mesh's names; default: those that the zone sends, until then `mesh.local`.",
            }),
          ),
          upstream: Type.Array(HostPort, {
            maxItems: 8,
            default: [],
            description: 'DNS servers for names outside the mesh; empty: those names are refused.',
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
              'With the address of a Dataplane, 0.0.0.0 or ::, other machines can read the metrics and the zone announces them to Prometheus.',
          }),
          port: Type.Integer({ ...PORT, default: 9_902 }),
        },
        { ...strict, description: 'Metrics for Prometheus; left out: none.' },
      ),
    ),
    state: Type.Optional(
      Type.String({
        ...PATH,
        description: 'Folder of keys, certificates, sockets and cached resources, for this agent only.',
      }),
    ),
    drainTime: Type.String({
      ...DURATION,
      default: '30s',
      description: 'Maximum time for open connections to end when the agent stops.',
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
