/**
 * What proxies are told, in Envoy's discovery protocol (xDS).
 *
 *   translation → encoded resources → server ══ADS══► Envoy, gRPC
 */
export {
  durationOf,
  encodeMessage,
  pack,
  packExtension,
  packFilter,
  typeUrlOf,
  unpack,
  type MessageCodec,
} from './resources/any';
export { checkMessage } from './resources/check-message';
export { encodeResource, RESOURCE_TYPES, type EncodedResource, type EncodeResult } from './resources/encoded-resource';
