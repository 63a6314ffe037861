/** What tests and benchmarks outside of this lib need of its inside. Nothing that ships imports it. */
export { GrpcApiServer } from '../src/grpc-api-server';
