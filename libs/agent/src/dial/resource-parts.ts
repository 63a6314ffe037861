import { RESOURCE_TYPES, type MessageVisitor } from '@causeway/xds-server';

type VisitedFields = Parameters<MessageVisitor>[1];

/** Field number of a resource's name, by type; default: 1. */
const NAME_FIELD: Readonly<Record<string, number>> = { [RESOURCE_TYPES.filterChain]: 7 };

/** Messages that would make a proxy dial, read or write something other than hosts of a cluster. */
const REFUSED_MESSAGES: Readonly<Record<string, string>> = {
  'envoy.config.core.v3.Pipe': 'a unix socket is neither dialled nor listened at',
  'envoy.config.core.v3.EnvoyInternalAddress': 'an internal listener is not dialled',
  'envoy.config.core.v3.ApiConfigSource': 'resources come from the agent only',
  'envoy.config.core.v3.PathConfigSource': 'resources come from the agent only',
  'envoy.config.core.v3.GrpcService': 'a gRPC service is not dialled',
  'envoy.config.core.v3.BindConfig': 'connections begin at the address that the machine chooses',
  'envoy.config.core.v3.WatchedDirectory': 'a folder is not watched',
  'envoy.extensions.access_loggers.file.v3.FileAccessLog': 'a file is not written',
  'envoy.config.endpoint.v3.Endpoint.HealthCheckConfig': 'hosts are checked by the agents beside them',
  'envoy.config.endpoint.v3.Endpoint.AdditionalAddress': 'a host has one address',
  'envoy.config.endpoint.v3.ClusterLoadAssignment.NamedEndpointsEntry': 'hosts stand in their localities',
  'envoy.config.endpoint.v3.LocalityLbEndpoints.LbEndpointList': 'hosts stand in their localities',
};

/** Fields that are refused for the same reason, by message. */
const REFUSED_FIELDS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  'envoy.config.cluster.v3.Cluster': {
    42: 'lrs_server: load is not reported',
    48: 'upstream_config: hosts are dialled as they are',
    55: 'typed_dns_resolver_config: names are resolved by the machine',
  },
  'envoy.config.core.v3.SocketAddress': {
    4: 'named_port: a port is a number',
    5: 'resolver_name: names are resolved by the machine',
  },
  'envoy.config.endpoint.v3.LbEndpoint': { 5: 'endpoint_name: hosts stand in their localities' },
  'envoy.config.core.v3.DataSource': { 4: 'environment_variable: the environment is not read' },
};

const DATA_SOURCE = 'envoy.config.core.v3.DataSource';
const SOCKET_ADDRESS = 'envoy.config.core.v3.SocketAddress';

/** Field number of a cluster name, by message. */
const CLUSTER_FIELDS: Readonly<Record<string, number>> = {
  'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy': 2,
  'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.WeightedCluster.ClusterWeight': 1,
  'envoy.config.route.v3.RouteAction': 1,
  'envoy.config.route.v3.WeightedCluster.ClusterWeight': 1,
  'envoy.config.route.v3.RouteAction.RequestMirrorPolicy': 1,
};

/** Messages that select the target of each connection or request dynamically. */
const DYNAMIC_MESSAGES: ReadonlySet<string> = new Set([
  'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand',
  'envoy.extensions.filters.network.sni_cluster.v3.SniCluster',
  'envoy.extensions.filters.network.set_filter_state.v3.Config',
  'envoy.extensions.filters.listener.original_dst.v3.OriginalDst',
  'envoy.extensions.filters.network.http_connection_manager.v3.Rds',
  'envoy.config.listener.v3.Listener.FcdsConfig',
]);
const DYNAMIC_FIELDS: Readonly<Record<string, readonly number[]>> = {
  'envoy.config.route.v3.RouteAction': [2, 37],
  'envoy.config.route.v3.WeightedCluster.ClusterWeight': [12],
  'envoy.config.route.v3.RouteAction.RequestMirrorPolicy': [4, 5],
};

/**
 * Visits all messages of one resource: refuses those that no resource may contain, and records the clusters that it
 * names.
 */
export class ResourceParts {
  /** Clusters that the resource names. */
  readonly clusters = new Set<string>();
  /** First message that selects targets dynamically. */
  dynamicPart: string | undefined;
  private isFirst = true;

  constructor(
    private readonly type: string,
    private readonly name: string,
    private readonly files: readonly string[],
  ) {}

  readonly visit: MessageVisitor = (message, fields) => {
    if (this.isFirst) {
      this.isFirst = false;
      const inner = readText(fields, NAME_FIELD[this.type] ?? 1);
      if (inner !== this.name) return `is of another name: ${JSON.stringify(inner.slice(0, 100))}`;
    }
    const cluster = readText(fields, CLUSTER_FIELDS[message] ?? 0);
    if (cluster !== '') this.clusters.add(cluster);
    if (DYNAMIC_MESSAGES.has(message) || DYNAMIC_FIELDS[message]?.some((number) => fields.has(number)) === true)
      this.dynamicPart ??= message.slice(message.lastIndexOf('.') + 1);
    return this.findRefusal(message, fields);
  };

  private findRefusal(message: string, fields: VisitedFields): string | undefined {
    const refused = REFUSED_MESSAGES[message];
    if (refused !== undefined) return refused;
    for (const [number, reason] of Object.entries(REFUSED_FIELDS[message] ?? {}))
      if (fields.has(Number(number))) return reason;
    if (message === SOCKET_ADDRESS && fields.get(1)?.some((protocol) => protocol !== 0) === true)
      return 'protocol: must be TCP';
    const file = message === DATA_SOURCE ? readText(fields, 1) : '';
    if (file !== '' && !this.files.includes(file)) return `filename: ${JSON.stringify(file.slice(0, 200))} is not read`;
    return undefined;
  }
}

function readText(fields: VisitedFields, number: number): string {
  const value = fields.get(number)?.[0];
  return typeof value === 'string' ? value : '';
}
