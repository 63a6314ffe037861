export type { AccessSource } from './access/inbound-access';
export {
  type ControlPlaneAddress,
  ZONE_PROXY_CONNECTIONS,
  envoyBootstrap,
  tokenSecret,
} from './bootstrap/envoy-bootstrap';
export { UNCLEAR_PATHS } from './messages/access-filters';
export { type HostNameMeaning, readHostName } from './messages/host-name';
export { CLIENT_CERT_HEADER } from './messages/inbound-listeners';
export type { IdentityCertificate } from './messages/tls';
export { type TrustDomain, meshOfAuthority } from './model/trust-domains';
export { type SocketAddress, isPort, socketAddress } from './model/ingress-endpoint';
export {
  NO_CLUSTER,
  TRUST_SECRET,
  parseEgressSecret,
  explicitListenerName,
  inboundListenerName,
  isProcessCluster,
  outboundListenerName,
  parseXdsName,
  processClusterName,
  vipClusterName,
} from './names/resource-names';
export { DialledHosts, type HostSource } from './resolution/dialled-hosts';
export { NameResolver } from './resolution/name-resolver';
export { SystemLookup } from './resolution/system-lookup';
export type { PolicySource } from './tables/policy-source';
export { EnvoyResources } from './translation/envoy-resources';
export { idsOfDataplane, evaluateInstances } from './translation/evaluated-instances';
export { type Capture, type EnvoyView, tcpPassthroughReason } from './views/envoy-view';
export { NODE_NAMESPACE, RESOLVES_NAMES } from './views/node-metadata';
