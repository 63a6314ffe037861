/** What proxies are sent (libs/xds/README.md). */
export {
  durationOf,
  encodeMessage,
  pack,
  packExtension,
  packFilter,
  typeUrlOf,
  unpack,
  type MessageCodec,
} from './resources/any';
export { checkMessage, type MessageVisitor } from './resources/check-message';
export {
  encodeResource,
  endpointsNameOf,
  RESOURCE_TYPES,
  type EncodedResource,
  type EncodeResult,
} from './resources/encoded-resource';
export { AdsClient, type AdsClientOptions, type AdsClientState } from './client/ads-client';
export type { ClientNode, ResourceUpdate } from './client/ads-client-stream';
export { ClientConnections, isOfConnection, type ClientConnection } from './client/client-connections';
export type { ClientTls } from './client/client-credentials';
export { CONNECT_DEADLINE, ConnectRounds } from './client/connect-rounds';
export type {
  ListingChange,
  Proxy,
  RefusedResource,
  ResourceChange,
  ResourceSource,
  SourceListener,
} from './server/resource-source';
export type { AdmittedProxy, ProxyAuthenticator, ProxyCaller } from './server/proxy-authenticator';
export type { ProxyStatus, ProxyTypeStatus } from './server/proxy-status';
export { DEFAULT_XDS_LIMITS, XdsServer, type XdsLimits, type XdsServerOptions } from './server/xds-server';
export { XdsModule } from './xds.module';
export { XdsPort, type ConnectedProxy, type XdsPortOptions } from './xds-port';
export {
  envoyBootstrap,
  tokenSecret,
  ZONE_PROXY_CONNECTIONS,
  type ControlPlaneAddress,
  type EnvoyBootstrapOptions,
} from './bootstrap/envoy-bootstrap';
export { EnvoyResources } from './envoy/envoy-resources';
export type { EnvoyResourcesOptions } from './envoy/envoy-resources-options';
export { UNCLEAR_PATHS } from './envoy/messages/access-filters';
export { CLIENT_CERT_HEADER } from './envoy/messages/inbound-listeners';
export { readHostName, type HostNameMeaning } from './envoy/messages/host-name';
export {
  explicitListenerName,
  inboundListenerName,
  NO_CLUSTER,
  outboundListenerName,
  processClusterName,
  vipClusterName,
} from './envoy/names';
export type { Instance, PortInstances } from './model/instances';
export type { AccessSource } from './model/inbound-access';
export { idsOfDataplane, judgedInstances, type JudgedInstance } from './model/judged-instances';
export { FROM_ADS } from './envoy/messages/tls';
export { DialledHosts, type HostAddresses, type HostSource } from './resolution/dialled-hosts';
export { NameResolver, type NameAnswer, type NameLookup, type ResolverLimits } from './resolution/name-resolver';
export { SystemLookup } from './resolution/system-lookup';
export { NODE_NAMESPACE, RESOLVES_NAMES } from './proxies/proxy-node';
export type { Capture, EnvoyView } from './envoy/envoy-view';
export { xdsMetrics } from './metric-definitions';
