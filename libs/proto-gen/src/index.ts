/** Generated messages and services of the wire (libs/proto-gen/README.md). */
export {
  DeltaDiscoveryRequest,
  DeltaDiscoveryResponse,
  Resource as DiscoveryResource,
} from './gen/envoy/service/discovery/v3/discovery';
export { mentionsReservedKey, refuseReservedText, RESERVED_KEY, reservedKeyError } from './reserved-key';
export { Node } from './gen/envoy/config/core/v3/base';
export { Any } from './gen/google/protobuf/any';
export { StringValue } from './gen/google/protobuf/wrappers';
export { Status, Status as RpcStatus } from './gen/google/rpc/status';
export {
  GlobalKDSServiceClient,
  GlobalKDSServiceService,
  KDSSyncServiceService,
  KumaResource,
} from './gen/kuma/mesh/v1alpha1/kds';
export { Mesh } from './gen/kuma/mesh/v1alpha1/mesh';
export { Dataplane } from './gen/kuma/mesh/v1alpha1/dataplane';
export { DataplaneInsight } from './gen/kuma/mesh/v1alpha1/dataplane_insight';
export { ZoneEgress } from './gen/kuma/mesh/v1alpha1/zone_egress';
export { ZoneIngress } from './gen/kuma/mesh/v1alpha1/zone_ingress';
export { Config } from './gen/kuma/system/v1alpha1/config';
export { Secret } from './gen/kuma/system/v1alpha1/secret';
export {
  CountedOrder,
  HandshakeRequest,
  HandshakeResponse,
  RenewTokenRequest,
  RenewTokenResponse,
  ResourceMeta,
  ResourceOutcome,
  ResourceResult,
  StateMark,
  SyncServiceClient,
  SyncServiceService,
} from './gen/causeway/v1/sync';
export {
  SignRequest,
  SignResponse,
  WorkloadCertificateServiceClient,
  WorkloadCertificateServiceService,
} from './gen/causeway/identity/v1/workload_certificate_service';
export { Name as HostName } from './gen/causeway/dns/v1/name';
export {
  AgentServiceService,
  AttachRequest,
  AttachResponse,
  InboundHealth,
  Registration,
  RegistrationOutcome,
  RegistrationResult,
  type Agent,
  type DataplaneName,
  type ZoneFacts,
} from './gen/causeway/agent/v1/agent_service';
export { ResourceIdentity, ResourceName, Resource as ResourceMessage } from './gen/causeway/v1/resource';
export {
  ApplyOutcome,
  ApplyRequest,
  ApplyResponse,
  ApplyResult,
  DeleteRequest,
  DeleteResponse,
  GetRequest,
  GetResponse,
  ListRequest,
  ListResponse,
  ResourceServiceClient,
  ResourceServiceService,
  Selection as SelectionMessage,
  WatchRequest,
  WatchResponse,
} from './gen/causeway/v1/resource_service';
export {
  Claim,
  Endpoint,
  ExplainRequest,
  ExplainResponse,
  NamingServiceClient,
  NamingServiceService,
  ResolveRequest,
  ResolveResponse,
} from './gen/causeway/v1/naming_service';
export {
  ExplainRequestRequest,
  ExplainRequestResponse,
  ListRoutesRequest,
  ListRoutesResponse,
  RoutingServiceClient,
  RoutingServiceService,
} from './gen/causeway/v1/routing_service';
export {
  GetImpactRequest,
  GetImpactResponse,
  GetTopologyRequest,
  GetTopologyResponse,
  ListPoliciesRequest,
  ListPoliciesResponse,
  ListScopesRequest,
  ListScopesResponse,
  PolicyPage,
  PolicyServiceService,
  VirtualName,
} from './gen/causeway/v1/policy_service';
export {
  AffectingPolicies,
  PolicyImpact,
  PolicyScopes,
  RequestAnswer,
  ServiceRoutes,
  Topology,
} from './gen/causeway/v1/answers';
export { FILE_DESCRIPTOR_SET } from './gen/descriptors';
export { fieldViolation, reasonOf } from './field-violation';
export { BadRequest, ErrorInfo, PreconditionFailure, RetryInfo } from './gen/google/rpc/error_details';
export {
  HealthCheckRequest,
  HealthCheckResponse,
  HealthCheckResponse_ServingStatus,
  HealthClient,
  HealthService,
} from './gen/grpc/health/v1/health';
export {
  ServerReflectionRequest,
  ServerReflectionResponse,
  ServerReflectionService,
} from './gen/grpc/reflection/v1/reflection';
export { ServerReflectionService as ServerReflectionV1AlphaService } from './gen/grpc/reflection/v1alpha/reflection';
/** Messages of the resources that Envoy and gRPC clients are sent; `$type` of each is its full name. Trimmed by tools/envoy-protos.mjs. */
export { AggregatedDiscoveryServiceService } from './gen/envoy/service/discovery/v3/ads';
export { DiscoveryRequest } from './gen/envoy/service/discovery/v3/discovery';
export { ENVOY_MESSAGES, type FieldSchema, type MessageSchema, type ValueRules } from './gen/envoy-messages';
export { CircuitBreakers } from './gen/envoy/config/cluster/v3/circuit_breaker';
export {
  Cluster,
  Cluster_DiscoveryType,
  Cluster_DnsLookupFamily,
  Cluster_LbPolicy,
} from './gen/envoy/config/cluster/v3/cluster';
export { OutlierDetection } from './gen/envoy/config/cluster/v3/outlier_detection';
export {
  DataSource,
  HeaderValueOption_HeaderAppendAction,
  TrafficDirection,
  TransportSocket,
} from './gen/envoy/config/core/v3/base';
export { ApiVersion, ConfigSource } from './gen/envoy/config/core/v3/config_source';
export { HealthStatus } from './gen/envoy/config/core/v3/health_check';
export { ProxyProtocolConfig_Version } from './gen/envoy/config/core/v3/proxy_protocol';
export { ClusterLoadAssignment } from './gen/envoy/config/endpoint/v3/endpoint';
export { LocalityLbEndpoints } from './gen/envoy/config/endpoint/v3/endpoint_components';
export { Listener } from './gen/envoy/config/listener/v3/listener';
export {
  Filter,
  FilterChain,
  FilterChainMatch,
  ListenerFilter,
} from './gen/envoy/config/listener/v3/listener_components';
export { Action as RbacMatchAction, Permission, Principal, RBAC_Action } from './gen/envoy/config/rbac/v3/rbac';
export { FractionalPercent_DenominatorType } from './gen/envoy/type/v3/percent';
export { RouteConfiguration } from './gen/envoy/config/route/v3/route';
export {
  HeaderMatcher,
  QueryParameterMatcher,
  RedirectAction,
  RedirectAction_RedirectResponseCode,
  RetryPolicy,
  Route,
  RouteAction,
  RouteAction_ClusterNotFoundResponseCode,
  RouteMatch,
} from './gen/envoy/config/route/v3/route_components';
export { HTTPFault } from './gen/envoy/extensions/filters/http/fault/v3/fault';
export { LocalRateLimit as HttpLocalRateLimit } from './gen/envoy/extensions/filters/http/local_ratelimit/v3/local_rate_limit';
export { RBAC as HttpRbac } from './gen/envoy/extensions/filters/http/rbac/v3/rbac';
export { Router } from './gen/envoy/extensions/filters/http/router/v3/router';
export { OriginalDst } from './gen/envoy/extensions/filters/listener/original_dst/v3/original_dst';
export { ProxyProtocol } from './gen/envoy/extensions/filters/listener/proxy_protocol/v3/proxy_protocol';
export { TlsInspector } from './gen/envoy/extensions/filters/listener/tls_inspector/v3/tls_inspector';
export { ConnectionLimit } from './gen/envoy/extensions/filters/network/connection_limit/v3/connection_limit';
export {
  HttpConnectionManager,
  HttpConnectionManager_ForwardClientCertDetails,
} from './gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager';
export { LocalRateLimit as NetworkLocalRateLimit } from './gen/envoy/extensions/filters/network/local_ratelimit/v3/local_rate_limit';
export { RBAC as NetworkRbac } from './gen/envoy/extensions/filters/network/rbac/v3/rbac';
export { Config as SetFilterState } from './gen/envoy/extensions/filters/network/set_filter_state/v3/set_filter_state';
export { TcpProxy, TcpProxy_UpstreamConnectMode } from './gen/envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy';
export {
  DestinationIPInput,
  ApplicationProtocolInput,
  DestinationPortInput,
  ServerNameInput,
  SourceIPInput,
  TransportProtocolInput,
} from './gen/envoy/extensions/matching/common_inputs/network/v3/network_inputs';
export { SubjectInput, UriSanInput } from './gen/envoy/extensions/matching/common_inputs/ssl/v3/ssl_inputs';
export { ConsistentHashing } from './gen/envoy/extensions/matching/input_matchers/consistent_hashing/v3/consistent_hashing';
export { PreviousHostsPredicate } from './gen/envoy/extensions/retry/host/previous_hosts/v3/previous_hosts';
export { ProxyProtocolUpstreamTransport } from './gen/envoy/extensions/transport_sockets/proxy_protocol/v3/upstream_proxy_protocol';
export { RawBuffer } from './gen/envoy/extensions/transport_sockets/raw_buffer/v3/raw_buffer';
export {
  CertificateValidationContext,
  SubjectAltNameMatcher_SanType,
  TlsParameters_TlsProtocol,
} from './gen/envoy/extensions/transport_sockets/tls/v3/common';
export { Secret as TlsSecret } from './gen/envoy/extensions/transport_sockets/tls/v3/secret';
export {
  CommonTlsContext,
  DownstreamTlsContext,
  UpstreamTlsContext,
} from './gen/envoy/extensions/transport_sockets/tls/v3/tls';
export { SPIFFECertValidatorConfig } from './gen/envoy/extensions/transport_sockets/tls/v3/tls_spiffe_validator_config';
export { HttpProtocolOptions } from './gen/envoy/extensions/upstreams/http/v3/http_protocol_options';
export { Matcher as MatcherTree } from './gen/xds/type/matcher/v3/matcher';
