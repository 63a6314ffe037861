export type { ResourceUpdate } from './client/ads-client-stream';
export { AdsClient, type AdsClientState } from './client/ads-client';
export { type ClientConnection, ClientConnections, isOfConnection } from './client/client-connections';
export type { AdsClientTls } from './client/client-credentials';
export { CONNECT_DEADLINE, ConnectRounds } from './client/connect-rounds';
export {
  type MessageCodec,
  toProtoDuration,
  encodeMessage,
  pack,
  packExtension,
  packFilter,
  unpack,
} from './resources/any';
export { type MessageVisitor, checkMessage } from './resources/check-message';
export {
  type EncodeResult,
  type EncodedResource,
  RESOURCE_TYPES,
  encodeResource,
  readEndpointsName,
} from './resources/encoded-resource';
export type { AdmittedProxy, ProxyAuthenticator, ProxyCaller } from './server/proxy-authenticator';
export type { ProxyStatus, ProxyTypeStatus } from './server/proxy-status';
export type { Proxy, RefusedResource, ResourceSource, SourceListener } from './server/resource-source';
export {
  type ConnectionCredentials,
  DEFAULT_XDS_LIMITS,
  type XdsLimits,
  XdsServer,
  type XdsServerOptions,
} from './server/xds-server';
