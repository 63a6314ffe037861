/**
 * The gRPC API: causeway.v1.ResourceService, NamingService, RoutingService and PolicyService, health and reflection. It translates only: queries answer reads,
 * admission takes writes, access says who calls and what they may do.
 *
 *   call → CallAuthenticator → HandlerFactory → services → Queries | Admission;   error → google.rpc.Status
 */
export { type AnsweredCall } from './calls/call-observer';
export { type GrpcApiOptions } from './grpc-api-options';
export { GrpcApiModule } from './grpc-api.module';
