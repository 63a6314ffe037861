/** Headers that are set below the layer at which a client selects a route, or that gRPC forbids for matching (gRPC proposal A28, A42). */
const UNSEEN_HEADERS = /^(?:host|te|user-agent|content-length|grpc-.*|.*-bin)$/;

/** Returns whether a proxyless gRPC client cannot match this header of its calls; case-insensitive. */
export const isUnseenByGrpc = (header: string): boolean => UNSEEN_HEADERS.test(header.toLowerCase());
