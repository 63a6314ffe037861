/** Headers that are made below the place where a client chooses, or that gRPC forbids it to look at (gRPC proposal A28, A42). */
const UNSEEN = /^(?:host|te|user-agent|content-length|grpc-.*|.*-bin)$/;

/** Whether a gRPC client without a proxy does not see a header of its own calls; in any case of letters. */
export const isUnseenByGrpc = (header: string): boolean => UNSEEN.test(header.toLowerCase());
