/**
 * What proxies are told, in Envoy's discovery protocol (xDS).
 *
 *   translation → encoded resources → server ══ADS══► Envoy, gRPC
 */
export { encodeMessage, pack, packExtension, packFilter, typeUrlOf, unpack, type MessageCodec } from './any';
