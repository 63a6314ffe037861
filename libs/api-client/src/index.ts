/** A client of one control plane, over REST and gRPC (libs/api-client/README.md). */
export type {
  ApiClient,
  ApplyOptions,
  DeleteOptions,
  ApplyResult,
  ApplySummary,
  Connection,
  HostnameClaim,
  HostnameExplanation,
  HostnameQuestion,
  ReadOptions,
  RequestExplanationQuestion,
  ResourceId,
  ResourceList,
  ResourceRef,
  ResourceSelection,
  RoutesOfServiceQuestion,
  StoredResource,
  WatchEvent,
  WatchOptions,
} from './api-client';
export { ApiError, ConnectionError, type ApiErrorCode, type ApiViolation, type ConnectionProblem } from './api-error';
export { connectApi, signWorkloadCertificate } from './connect-api';
export type { CertificateOrder, SignedWorkload } from './workload-certificates';
export type { RestCalls, RestRequest } from './rest/rest-calls';
