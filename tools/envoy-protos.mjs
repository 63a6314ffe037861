/**
 * Envoy's protos, trimmed: of the 594 files in `@grpc/grpc-js-xds` only what proxies are told and ask in, without what this
 * control plane never sends. The package's protos are those of about Envoy 1.31; the patches bring what is used of later ones.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const DEPS = 'node_modules/@grpc/grpc-js-xds/deps';
const MODULES = ['envoy-api', 'xds', 'protoc-gen-validate'];

/** Messages that are generated besides our own protos, with the types of their fields. */
export const TYPES = [
  'envoy.service.discovery.v3.AggregatedDiscoveryService',
  'envoy.service.discovery.v3.DiscoveryRequest',
  'envoy.service.discovery.v3.DiscoveryResponse',
  // resources
  'envoy.config.listener.v3.Listener',
  'envoy.config.cluster.v3.Cluster',
  'envoy.config.endpoint.v3.ClusterLoadAssignment',
  'envoy.config.route.v3.RouteConfiguration',
  'envoy.extensions.transport_sockets.tls.v3.Secret',
  // clusters
  'envoy.extensions.clusters.aggregate.v3.ClusterConfig',
  'envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
  'envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate',
  // transport sockets
  'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
  'envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext',
  'envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig',
  'envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport',
  'envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer',
  // listener filters, and what a filter chain is chosen by
  'envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector',
  'envoy.extensions.filters.listener.original_dst.v3.OriginalDst',
  'envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol',
  'google.protobuf.StringValue',
  'envoy.extensions.matching.common_inputs.network.v3.DestinationIPInput',
  'envoy.extensions.matching.common_inputs.network.v3.DestinationPortInput',
  'envoy.extensions.matching.common_inputs.network.v3.ServerNameInput',
  'envoy.extensions.matching.common_inputs.network.v3.TransportProtocolInput',
  'envoy.extensions.matching.common_inputs.network.v3.ApplicationProtocolInput',
  'envoy.extensions.matching.common_inputs.network.v3.SourceIPInput',
  'envoy.extensions.matching.common_inputs.ssl.v3.UriSanInput',
  'envoy.extensions.matching.common_inputs.ssl.v3.SubjectInput',
  'envoy.extensions.matching.input_matchers.consistent_hashing.v3.ConsistentHashing',
  // what matchers in filters come to
  'envoy.config.rbac.v3.Action',
  // network filters
  'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy',
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
  'envoy.extensions.filters.network.rbac.v3.RBAC',
  'envoy.extensions.filters.network.sni_cluster.v3.SniCluster',
  'envoy.extensions.filters.network.set_filter_state.v3.Config',
  'envoy.extensions.filters.network.connection_limit.v3.ConnectionLimit',
  'envoy.extensions.filters.network.local_ratelimit.v3.LocalRateLimit',
  // HTTP filters
  'envoy.extensions.filters.http.router.v3.Router',
  'envoy.extensions.filters.http.rbac.v3.RBAC',
  'envoy.extensions.filters.http.rbac.v3.RBACPerRoute',
  'envoy.extensions.filters.http.fault.v3.HTTPFault',
  'envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit',
  'envoy.extensions.filters.http.grpc_stats.v3.FilterConfig',
  'envoy.extensions.access_loggers.file.v3.FileAccessLog',
];

/** Field types (or packages, ending in a dot) that are never sent: such fields of these messages are left out. */
export const PRUNED = [
  'google.api.expr.v1alpha1.',
  'envoy.config.trace.v3.',
  'envoy.type.tracing.v3.',
  'envoy.type.metadata.v3.',
  'envoy.service.discovery.v3.DynamicParameterConstraints',
  'envoy.config.accesslog.v3.AccessLogFilter',
  'envoy.config.core.v3.GrpcService.GoogleGrpc',
  'envoy.config.core.v3.HealthCheck',
  'envoy.config.core.v3.RetryPolicy',
  'envoy.config.core.v3.QuicProtocolOptions',
  'envoy.config.core.v3.Http3ProtocolOptions',
  'envoy.config.core.v3.AlternateProtocolsCacheOptions',
  'envoy.config.cluster.v3.Cluster.LbSubsetConfig',
  'envoy.config.cluster.v3.Cluster.OriginalDstLbConfig',
  'envoy.config.cluster.v3.Filter',
  'envoy.config.cluster.v3.LoadBalancingPolicy',
  'envoy.config.endpoint.v3.LedsClusterLocalityConfig',
  'envoy.config.listener.v3.UdpListenerConfig',
  'envoy.config.listener.v3.ListenerFilterChainMatchPredicate',
  'envoy.config.rbac.v3.RBAC.AuditLoggingOptions',
  'envoy.config.route.v3.ClusterSpecifierPlugin',
  'envoy.config.route.v3.Decorator',
  'envoy.config.route.v3.FilterAction',
  'envoy.config.route.v3.HedgePolicy',
  'envoy.config.route.v3.RateLimit',
  'envoy.config.route.v3.ScopedRouteConfiguration',
  'envoy.config.route.v3.Tracing',
  'envoy.config.route.v3.Vhds',
  'envoy.config.route.v3.VirtualCluster',
  'envoy.extensions.common.ratelimit.v3.LocalClusterRateLimit',
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.ProxyStatusConfig',
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.Tracing',
  'envoy.extensions.filters.network.http_connection_manager.v3.LocalReplyConfig',
  'envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes',
  'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.TunnelingConfig',
  'envoy.extensions.transport_sockets.tls.v3.GenericSecret',
  'envoy.extensions.transport_sockets.tls.v3.PrivateKeyProvider',
  'envoy.extensions.transport_sockets.tls.v3.TlsKeyLog',
  'envoy.extensions.transport_sockets.tls.v3.TlsSessionTicketKeys',
];

/** Deprecated fields of Envoy go too, but for those that grpc-js reads in place of their successors. */
export const KEPT_THOUGH_DEPRECATED = [
  'envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.match_subject_alt_names',
];

/** In the order of the protos: what the package's age lacks. */
const PATCHES = {
  // Envoy 1.40: filter chains as resources of their own.
  'envoy/config/listener/v3/listener.proto': (text) =>
    afterMessage(
      text.replace(
        'import "envoy/config/core/v3/extension.proto";',
        '$&\nimport "envoy/config/core/v3/config_source.proto";',
      ),
      'Listener',
      `  message FcdsConfig {
    string name = 1;
    core.v3.ConfigSource config_source = 2;
  }
  FcdsConfig fcds_config = 36;`,
    ),
  // Envoy 1.33: how long it waits between two attempts to connect. 1.37: when the process behind a listener is dialled.
  'envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy.proto': (text) =>
    afterMessage(
      text.replace('import "envoy/config/core/v3/base.proto";', 'import "envoy/config/core/v3/backoff.proto";\n$&'),
      'TcpProxy',
      `  config.core.v3.BackoffStrategy backoff_options = 18;
  enum UpstreamConnectMode {
    IMMEDIATE = 0;
    ON_DOWNSTREAM_DATA = 1;
    ON_DOWNSTREAM_TLS_HANDSHAKE = 2;
  }
  UpstreamConnectMode upstream_connect_mode = 21 [(validate.rules).enum = {defined_only: true}];
  google.protobuf.UInt32Value max_early_data_bytes = 22 [(validate.rules).uint32 = {lte: 1048576}];`,
    ),
  'validate/validate.proto': (text) =>
    Object.entries(IGNORE_EMPTY).reduce(
      (patched, [message, number]) => afterMessage(patched, message, `    optional bool ignore_empty = ${number};`),
      text,
    ),
};

/** Field numbers of `ignore_empty` as in the current protoc-gen-validate. */
const IGNORE_EMPTY = {
  FloatRules: 8,
  DoubleRules: 8,
  Int32Rules: 8,
  Int64Rules: 8,
  UInt32Rules: 8,
  UInt64Rules: 8,
  StringRules: 26,
  BytesRules: 14,
  RepeatedRules: 5,
  MapRules: 6,
};

/** Copies the files that are needed to `.proto-deps/envoy`, patched. The folder is made anew. */
export function writeEnvoyProtos(root) {
  const out = join(root, '.proto-deps/envoy');
  rmSync(out, { recursive: true, force: true });
  const copied = new Set();
  const copy = (path) => {
    if (copied.has(path) || path.startsWith('google/')) return;
    copied.add(path);
    const from = MODULES.map((module) => join(root, DEPS, module, path)).find((file) => existsSync(file));
    if (!from) throw new Error(`${path}: no such file in ${DEPS}`);
    const text = (PATCHES[path] ?? ((same) => same))(readFileSync(from, 'utf8'));
    mkdirSync(join(out, dirname(path)), { recursive: true });
    writeFileSync(join(out, path), text);
    for (const [, imported] of text.matchAll(/^import (?:public )?"([^"]+)";/gm)) copy(imported);
  };
  for (const type of TYPES.filter((name) => name.startsWith('envoy.'))) copy(fileOf(root, type));
}

/** The file that defines a type of the package. */
function fileOf(root, type) {
  const folder = type.slice(0, type.lastIndexOf('.')).replaceAll('.', '/');
  const defines = new RegExp(`^(message|service) ${type.slice(type.lastIndexOf('.') + 1)} \\{`, 'm');
  const files = readdirSync(join(root, DEPS, 'envoy-api', folder)).filter((file) => file.endsWith('.proto'));
  const file = files.find((name) => defines.test(readFileSync(join(root, DEPS, 'envoy-api', folder, name), 'utf8')));
  if (!file) throw new Error(`${type}: no file defines it`);
  return `${folder}/${file}`;
}

/** The text with these fields at the end of a top-level message, which must not have them yet. */
function afterMessage(text, message, fields) {
  const start = text.indexOf(`\nmessage ${message} {`);
  const end = text.indexOf('\n}', start);
  if (start < 0) throw new Error(`no message ${message} to patch`);
  const field = /(\w+) = \d+[^;=]*(?:\[[^\]]*\])?;\s*$/.exec(fields)[1];
  if (new RegExp(`\\b${field} = `).test(text.slice(start, end))) return text;
  return `${text.slice(0, end)}\n${fields}${text.slice(end)}`;
}
