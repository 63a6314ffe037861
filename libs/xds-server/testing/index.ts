export { formatTypeUrl } from '../src/resources/any';
export { type AdsForm, decodeRequest } from '../src/server/ads-messages';
export { CHUNK_BYTES } from '../src/server/push';
