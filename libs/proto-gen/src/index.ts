/**
 * Messages and services on the wire, generated from proto/ (`npm run generate`) and committed; `gen/` is never edited.
 *
 *   proto/kuma → Kuma's KDS and specs;  proto/causeway → our API and extensions;  proto/grpc → health, reflection;
 *   Envoy's discovery protos and Google's error details → a dev dependency
 *
 * 64-bit numbers are `number` (decoding one above 2^53 throws); messages keep fields they do not know.
 */
export {
  DeltaDiscoveryRequest,
  DeltaDiscoveryResponse,
  Resource as DiscoveryResource,
} from './gen/envoy/service/discovery/v3/discovery';
export { ControlPlane, Node } from './gen/envoy/config/core/v3/base';
export { Any } from './gen/google/protobuf/any';
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
export { ZoneIngress } from './gen/kuma/mesh/v1alpha1/zone_ingress';
export { Config } from './gen/kuma/system/v1alpha1/config';
export { Secret } from './gen/kuma/system/v1alpha1/secret';
export {
  HandshakeRequest,
  HandshakeResponse,
  OriginRevision,
  ResourceMeta,
  ResourceOutcome,
  ResourceResult,
  ResumePoint,
  StateMark,
  SyncServiceClient,
  SyncServiceService,
} from './gen/causeway/v1/sync';
export { ResourceIdentity, ResourceName, Resource as ResourceMessage } from './gen/causeway/v1/resource';
export {
  ApplyDocument,
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
export { FILE_DESCRIPTOR_SET } from './gen/descriptors';
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
