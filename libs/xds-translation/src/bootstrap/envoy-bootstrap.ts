import { isIP } from 'node:net';
import type { JsonObject } from '@causeway/resources';

/** The address of a control plane's xDS port. */
export interface ControlPlaneAddress {
  /** An IP address or a host name. */
  readonly host: string;
  readonly port: number;
}

/** Inputs of the bootstrap of an Envoy. */
export interface EnvoyBootstrapOptions {
  readonly node: { readonly id: string; readonly cluster: string; readonly metadata: JsonObject };
  /** At least one address, or the unix socket of an agent. Envoy resolves host names repeatedly. */
  readonly controlPlanes: readonly ControlPlaneAddress[] | { readonly path: string };
  /** The authorities, in PEM, that verify control planes; absent: plaintext. */
  readonly authority?: string;
  /** The token, or the absolute path of a file that holds its `tokenSecret`; Envoy reads the file again when another file is moved to the path. */
  readonly token?: { readonly text: string } | { readonly file: string };
  /** `sotw` (state of the world) is for older proxies of Kuma. */
  readonly protocol: 'delta' | 'sotw';
  readonly admin: { readonly address: string; readonly port: number } | { readonly path: string };
  /** The maximum number of concurrent connections over all listeners except the admin interface; unlimited where absent. */
  readonly connections?: number;
}

/** The default limit of connections of an ingress or egress. */
export const ZONE_PROXY_CONNECTIONS = 50_000;

const TYPE = 'type.googleapis.com/envoy.';
/** The name of the secret in the token file. */
const TOKEN_SECRET = 'token';
/** The cluster of the control plane; the name is Kuma's. */
const ADS_CLUSTER = 'ads_cluster';

/** The backoff of reconnections to a control plane; Envoy's default grows to 30 s. */
const RETRY = { retry_back_off: { base_interval: '0.2s', max_interval: '5s' } };

/**
 * By default Envoy refuses regular expressions of more than 100 instructions, together with all other routes of the port. The size of expressions in
 * routes is bounded at admission (libs/routing, regular-expression.ts).
 */
const RUNTIME = { 're2.max_program_size.error_level': 1_000_000 };

/** Returns the bootstrap of an Envoy that gets all its resources over one ADS stream. */
export function envoyBootstrap(options: EnvoyBootstrapOptions): JsonObject {
  const ads = { ads: {}, resource_api_version: 'V3', initial_fetch_timeout: '0s' };
  const { admin, node, protocol, connections } = options;
  return {
    node: { id: node.id, cluster: node.cluster, metadata: node.metadata },
    admin: {
      address:
        'path' in admin
          ? { pipe: { path: admin.path, mode: 0o600 } }
          : socketAddress({ host: admin.address, port: admin.port }),
      ...(connections !== undefined && { ignore_global_conn_limit: true }),
    },
    ...(connections !== undefined && { overload_manager: connectionLimit(connections) }),
    layered_runtime: { layers: [{ name: 'causeway', static_layer: RUNTIME }] },
    dynamic_resources: {
      ads_config: {
        api_type: protocol === 'delta' ? 'DELTA_GRPC' : 'GRPC',
        transport_api_version: 'V3',
        set_node_on_first_message_only: true,
        grpc_services: [
          {
            envoy_grpc: { cluster_name: ADS_CLUSTER, retry_policy: RETRY },
            ...(options.token && tokenMetadata(options.token)),
          },
        ],
      },
      cds_config: ads,
      lds_config: ads,
    },
    static_resources: { clusters: [adsCluster(options)] },
  };
}

/** Returns the overload settings that close connections beyond the limit at once (`listener.<address>.downstream_global_cx_overflow`). */
function connectionLimit(connections: number): JsonObject {
  const config = 'extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig';
  return {
    resource_monitors: [
      {
        name: 'envoy.resource_monitors.global_downstream_max_connections',
        typed_config: { '@type': `${TYPE}${config}`, max_active_downstream_connections: connections },
      },
    ],
  };
}

function tokenMetadata(token: NonNullable<EnvoyBootstrapOptions['token']>): JsonObject {
  return 'text' in token ? { initial_metadata: [{ key: 'authorization', value: `Bearer ${token.text}` }] } : {};
}

function adsCluster({ controlPlanes, authority, token }: EnvoyBootstrapOptions): JsonObject {
  const addresses = 'path' in controlPlanes ? [] : controlPlanes;
  const areAddresses = addresses.every(({ host }) => isIP(host) !== 0);
  const places = 'path' in controlPlanes ? [{ pipe: { path: controlPlanes.path } }] : addresses.map(socketAddress);
  const endpoints = places.map((address) => ({ endpoint: { address } }));
  return {
    name: ADS_CLUSTER,
    type: areAddresses ? 'STATIC' : 'STRICT_DNS',
    connect_timeout: '2s',
    typed_extension_protocol_options: {
      'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
        '@type': `${TYPE}extensions.upstreams.http.v3.HttpProtocolOptions`,
        explicit_http_config: {
          // Detects a control plane that died without closing its connections.
          http2_protocol_options: { connection_keepalive: { interval: '15s', timeout: '5s' } },
        },
        ...(token && 'file' in token && { http_filters: tokenFilters(token.file) }),
      },
    },
    load_assignment: { cluster_name: ADS_CLUSTER, endpoints: [{ lb_endpoints: endpoints }] },
    ...(authority !== undefined && { transport_socket: tls(authority, addresses) }),
  };
}

/** Returns the content of a token file. */
export function tokenSecret(token: string): JsonObject {
  const secret = { inline_string: `Bearer ${token}` };
  const type = `${TYPE}extensions.transport_sockets.tls.v3.Secret`;
  return { resources: [{ '@type': type, name: TOKEN_SECRET, generic_secret: { secret } }] };
}

/** Returns the filters that add the current token of the file to each stream. */
function tokenFilters(file: string): JsonObject[] {
  const secret = { name: TOKEN_SECRET, sds_config: { path_config_source: { path: file }, resource_api_version: 'V3' } };
  return [
    {
      name: 'token',
      typed_config: {
        '@type': `${TYPE}extensions.filters.http.credential_injector.v3.CredentialInjector`,
        overwrite: true,
        credential: {
          name: 'generic',
          typed_config: {
            '@type': `${TYPE}extensions.http.injected_credentials.generic.v3.Generic`,
            header: 'authorization',
            credential: secret,
          },
        },
      },
    },
    {
      name: 'codec',
      typed_config: { '@type': `${TYPE}extensions.filters.http.upstream_codec.v3.UpstreamCodec` },
    },
  ];
}

/** Returns the TLS settings that accept only these authorities, and only for the hosts that are dialled. */
function tls(authority: string, controlPlanes: readonly ControlPlaneAddress[]): JsonObject {
  const names = controlPlanes.map(({ host }) => ({
    san_type: isIP(host) === 0 ? 'DNS' : 'IP_ADDRESS',
    matcher: { exact: host },
  }));
  return {
    name: 'tls',
    typed_config: {
      '@type': `${TYPE}extensions.transport_sockets.tls.v3.UpstreamTlsContext`,
      common_tls_context: {
        alpn_protocols: ['h2'],
        tls_params: { tls_minimum_protocol_version: 'TLSv1_2' },
        validation_context: { trusted_ca: { inline_string: authority }, match_typed_subject_alt_names: names },
      },
    },
  };
}

function socketAddress({ host, port }: ControlPlaneAddress): JsonObject {
  return { socket_address: { address: host, port_value: port } };
}
