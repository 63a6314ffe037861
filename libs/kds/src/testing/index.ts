/**
 * What tests need that play a peer on the wire or a transport in memory: the messages, their encoders and decoders, and the
 * interfaces of streams. Nothing that runs in production imports it.
 */
export { DEFAULT_ATTEMPTS } from '../global/attempt-limits';
export type { IncomingStream } from '../global/stream-handler';
export type { ZoneLifecycleLoop, ZoneLifecycleOptions } from '../global/zones/zone-lifecycle-loop';
export type { EndReason, ListenedStream, StreamListener } from '../session/peer-stream';
export { UNBOUNDED } from '../wire/bounds';
export { copyOf, type Copy, type Sender } from '../wire/copy';
export { CAUSEWAY_DIALECT, Extension, KUMA_DIALECT, type Dialect } from '../wire/dialect';
export { decodeZoneHeaders, encodeZoneHeaders, type ZoneHeaders } from '../wire/headers';
export { kdsSyncService } from '../wire/kds-service';
export { NODE_FEATURES } from '../wire/node';
export { decodeRequest, encodeRequest, type SubscribeRequest, type WireRequest } from '../wire/request';
export { ResourceEncoder } from '../wire/resource-encoder';
export {
  decodeResponse,
  encodeResponse,
  openResponse,
  type OutgoingResponse,
  type StatePosition,
} from '../wire/response';
export { formatWireKey, parseWireKey, wireKeyOf, type WireResource } from '../wire/wire-resource';
export type { ZoneTransport } from '../zone/zone-transport';
