/** A client of one control plane, over REST and gRPC (libs/api-client/README.md). */
export type {
  ApiClient,
  ApplyResult,
  Connection,
  ResourceId,
  ResourceRef,
  ResourceSelection,
  WatchEvent,
} from './api-client';
export type { OpenWords } from './rest/call-input';
export { ApiError, ConnectionError, type ConnectionProblem } from './api-error';
export { connectApi, signWorkloadCertificate } from './connect-api';
export type { CertificateOrder, SignedWorkload } from './workload-certificates';
