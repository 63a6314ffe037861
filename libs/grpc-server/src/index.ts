/** Foundation of every gRPC port (libs/grpc-server/README.md). */
export { readPeerAddress, DEFAULT_CONNECTIONS, type ConnectionLimits } from './connection-acceptor';
export { ClientSockets } from './client-sockets';
export { type SharedPortOptions } from './shared-port';
export { GrpcListener } from './grpc-listener';
export { frameCompressed, frameMessage, Http2Streams } from './http2-streams';
export { tlsServerCredentials } from './tls-credentials';
