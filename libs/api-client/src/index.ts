/**
 * A client of one control plane for Node: one typed interface over REST and gRPC, the same answers and errors. Apps use it and
 * import no generated code.
 *
 *   const api = await connectApi({ server: new URL('grpcs://global:5682'), token });
 *   for await (const event of api.watch({ kind: 'MeshService' }, { signal })) …
 *
 * What only REST answers, such as insights and tokens, is in `rest`. `connectApi` loads the transport of the address only: a program that may never speak gRPC starts without it.
 */
export type {
  ApiClient,
  ApplyResult,
  Connection,
  HostnameExplanation,
  ResourceId,
  ResourceRef,
  ResourceSelection,
  WatchEvent,
} from './api-client';
export { ApiError, ConnectionError, type ConnectionProblem } from './api-error';
export { connectApi, signWorkloadCertificate } from './connect-api';
export type { CertificateOrder, SignedWorkload } from './workload-certificates';
