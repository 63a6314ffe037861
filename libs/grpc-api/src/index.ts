/** The gRPC API of a control plane (libs/grpc-api/README.md). */
export { type AnsweredCall } from './calls/call-observer';
export { type GrpcApiOptions } from './grpc-api-options';
export { GrpcApiModule } from './grpc-api.module';
