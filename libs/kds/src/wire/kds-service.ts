import { compressionAlgorithms, type ChannelOptions } from '@grpc/grpc-js';
import { KDSSyncServiceService } from '@causeway/proto-gen';

/** Largest message either side takes: a Kuma peer gets all of a kind in one (kds.md §1.1). */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** Largest piece of a first state between Causeway peers (design.md §5 cw-chunk). */
export const CHUNK_BYTES = 256 * 1024;

/** Changes to a peer without cw-chunk stay well below its limit; its first state goes in one message of any size. */
export const KUMA_MESSAGE_BYTES = 4 * 1024 * 1024;

const limits: ChannelOptions = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
};

/**
 * Options of both ends of a KDS connection. The client compresses with gzip, as a Kuma zone does; its ping
 * interval stays above the 15 s that a Kuma global enforces (kds.md §1.1, §1.2, §1.3).
 */
export const kdsChannelOptions: { readonly client: ChannelOptions; readonly server: ChannelOptions } = {
  client: {
    ...limits,
    'grpc.default_compression_algorithm': compressionAlgorithms.gzip,
    'grpc.keepalive_time_ms': 20_000,
    'grpc.keepalive_timeout_ms': 15_000,
    'grpc.keepalive_permit_without_calls': 1,
  },
  server: {
    ...limits,
    'grpc.keepalive_time_ms': 15_000,
    'grpc.keepalive_timeout_ms': 15_000,
    // A session has two streams, a Kuma zone a few more.
    'grpc.max_concurrent_streams': 64,
    // A connection without a call is of no use; a zone makes a new one.
    'grpc.max_connection_idle_ms': 60_000,
  },
};

const asIs = (bytes: Buffer): Buffer => bytes;
const bytesOnly = {
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
} as const;

/**
 * KDSSyncService whose messages are bytes: `encodeResponse` and `encodeRequest` make them, `decodeResponse` and
 * `decodeRequest` read them. So a message is encoded once for many streams, and one that cannot be read is the
 * stream's to answer, not gRPC's.
 */
export const kdsSyncService = {
  globalToZoneSync: { ...KDSSyncServiceService.globalToZoneSync, ...bytesOnly },
  zoneToGlobalSync: { ...KDSSyncServiceService.zoneToGlobalSync, ...bytesOnly },
} as const;
