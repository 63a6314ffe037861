/**
 * A client of one control plane for Node: one typed interface over REST and gRPC, the same answers and errors. Apps use it and
 * import no generated code.
 *
 *   const api = await connectApi({ server: new URL('grpcs://global:5682'), token });
 *   for await (const event of api.watch({ kind: 'MeshService' }, { signal })) …
 *
 * `connectApi` loads the transport of the address only: a program that may never speak gRPC starts without it.
 */
export {
  ApiError,
  type ApiClient,
  type ApiErrorCode,
  type ApplyOptions,
  type DeleteOptions,
  type ApplyResult,
  type ApplySummary,
  type Connection,
  type HostnameQuestion,
  type ReadOptions,
  type ResourceId,
  type ResourceList,
  type ResourceRef,
  type ResourceSelection,
  type StoredResource,
  type WatchEvent,
  type WatchOptions,
} from './api-client';
export { connectApi } from './connect-api';
