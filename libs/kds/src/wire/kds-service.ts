import { compressionAlgorithms, type ChannelOptions } from '@grpc/grpc-js';
import { KDSSyncServiceService } from '@causeway/proto-gen';

/**
 * Maximum message size of both ends: a Kuma peer gets all resources of a kind in one message (docs/reference/kds-wire.md §1.1).
 */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** Maximum size of a chunk of a first state between Causeway peers (docs/design.md §5 cw-chunk). */
export const CHUNK_BYTES = 256 * 1024;

/** Size of messages with changes to a peer without cw-chunk; its first state is one message of any size. */
export const KUMA_MESSAGE_BYTES = 4 * 1024 * 1024;

const limits: ChannelOptions = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
};

/**
 * Channel options of both ends of a KDS connection. The client compresses with gzip, as a Kuma zone does; its ping
 * interval is above the minimum of 15 s that a Kuma global enforces (docs/reference/kds-wire.md §1.1, §1.2).
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
    // A Causeway session has two streams, a Kuma zone has a few more.
    'grpc.max_concurrent_streams': 64,
    // An unused connection is closed; a zone opens a new one.
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
 * KDSSyncService with raw bytes as messages, for `encodeResponse`, `encodeRequest`, `decodeResponse` and
 * `decodeRequest`. A message is encoded once for many streams, and the stream, not gRPC, handles decoding errors.
 */
export const kdsSyncService = {
  globalToZoneSync: { ...KDSSyncServiceService.globalToZoneSync, ...bytesOnly },
  zoneToGlobalSync: { ...KDSSyncServiceService.zoneToGlobalSync, ...bytesOnly },
} as const;
