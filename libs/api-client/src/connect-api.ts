import type { ApiClient, Connection } from './api-client';
import { ApiError } from './api-error';
import type { CertificateOrder, SignedWorkload } from './workload-certificates';

/** Returns a client for the scheme of the address; loads only the transport that it needs. Rejects with ApiError for another scheme. */
export async function connectApi(connection: Connection): Promise<ApiClient> {
  switch (connection.server.protocol) {
    case 'grpc:':
    case 'grpcs:': {
      const { GrpcApiClient } = await import('./grpc/grpc-api-client.js');
      return new GrpcApiClient(connection);
    }
    case 'unix:':
    case 'http:':
    case 'https:': {
      const { RestApiClient } = await import('./rest/rest-api-client.js');
      return new RestApiClient(connection);
    }
    default:
      throw new ApiError('invalid', `${connection.server.protocol}// is none of http, https, grpc, grpcs, unix`);
  }
}

/** Sends one request (`WorkloadCertificateService/Sign`, docs/reference/xds.md). Rejects with ApiError. */
export async function signWorkloadCertificate(order: CertificateOrder): Promise<SignedWorkload> {
  const { sign } = await import('./grpc/workload-certificates.js');
  return sign(order);
}
