/**
 * Support for tests that play a peer on the wire or a transport in memory: the messages, their encoders and decoders, and the
 * interfaces of streams. Nothing that runs in production imports it.
 */
export { DEFAULT_ATTEMPTS } from '../src/global/attempt-limits';
export type { IncomingStream } from '../src/global/stream-handler';
export type { ZoneLifecycleLoop, ZoneLifecycleOptions } from '../src/global/zones/zone-lifecycle-loop';
export type { StreamEndReason, ListenedStream, StreamListener } from '../src/session/peer-stream';
export { UNBOUNDED } from '../src/wire/bounds';
export { toCopy, type Copy, type Sender } from '../src/wire/copy';
export { Extension, KUMA_DIALECT, type Dialect } from '../src/wire/dialect';
export { CAUSEWAY_DIALECT } from './dialects';
export { decodeZoneHeaders, encodeZoneHeaders, type ZoneHeaders } from '../src/wire/headers';
export { kdsSyncService } from '../src/wire/kds-service';
export { NODE_FEATURES } from '../src/wire/node';
export { decodeRequest, encodeRequest, type SubscribeRequest, type WireRequest } from '../src/wire/request';
export { ResourceEncoder } from '../src/wire/resource-encoder';
export { encodeResponse, openResponse, type OutgoingResponse, type StatePosition } from '../src/wire/response';
export { decodeResponse } from './decode-response';
export { formatWireKey, parseWireKey, getWireKey, type WireResource } from '../src/wire/wire-resource';
export type { ZoneTransport } from '../src/zone/zone-transport';
export { createGlobalSync } from '../src/global/global-sync';
export type { GlobalSyncOptions } from '../src/global/global-sync-options';
export { createZoneSync } from '../src/zone/zone-sync';
