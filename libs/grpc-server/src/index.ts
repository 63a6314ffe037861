/**
 * What every gRPC port of a control plane stands on: the listener with its bounds, TLS by certificates that change, and the
 * HTTP/2 streams under calls; and the sockets of the clients that control planes and agents are. It serves nothing itself.
 *
 *   GrpcListener(services of kds | grpc-api) ← ConnectionAcceptor ← sockets
 *
 * A lib of its own: kds and grpc-api both need it, adapters never import each other, and libs/runtime is without gRPC.
 */
export { addressOf, DEFAULT_CONNECTIONS, type ConnectionLimits } from './connection-acceptor';
export { ClientSockets } from './client-sockets';
export { type SharedPortOptions } from './shared-port';
export { GrpcListener } from './grpc-listener';
export { framed, Http2Streams } from './http2-streams';
export { tlsServerCredentials } from './tls-credentials';
