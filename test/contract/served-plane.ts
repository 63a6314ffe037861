import { ApiError } from '@causeway/api-client';
import type { ResourceIndex, ResourceStore } from '@causeway/store';
import { GrpcFixture, OPERATOR_TOKEN } from '../grpc/grpc-fixture';
import { namingFixture } from '../rest/naming-fixture';
import { ZONE_EAST } from '../rest/rest-fixture';

/** A control plane that is asked by one of its interfaces. */
export interface Served {
  readonly scheme: string;
  readonly port: number;
  readonly store: ResourceStore;
  readonly index: ResourceIndex;
  close(): Promise<void>;
}

async function serveRest(cp = ZONE_EAST): Promise<Served> {
  const rest = await namingFixture(cp, { access: { operatorToken: OPERATOR_TOKEN } });
  const port = await rest.server.listen('127.0.0.1', 0);
  return { scheme: 'http', port, store: rest.store, index: rest.index, close: () => rest.close() };
}

async function serveGrpc(cp = ZONE_EAST): Promise<Served> {
  const grpc = await GrpcFixture.open({ cp, open: false });
  return { scheme: 'grpc', port: grpc.port, store: grpc.store, index: grpc.index, close: () => grpc.close() };
}

/** Interfaces that serve a control plane, a federated zone unless given; `OPERATOR_TOKEN` may do everything. */
export const INTERFACES = [
  ['REST', serveRest],
  ['gRPC', serveGrpc],
] as const;

/** The error that something rejects with. */
export async function failure(promise: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ApiError) return error;
  throw new Error('it did not fail with an ApiError', { cause: error });
}
