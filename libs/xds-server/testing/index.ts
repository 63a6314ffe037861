export { formatTypeUrl } from '../src/resources/any';
export { type AdsForm, decodeRequest } from '../src/server/ads-messages';
export { CHUNK_BYTES } from '../src/server/push';
export { ResponseEncoder } from '../src/server/ads-messages';
export { AdsSession } from '../src/server/ads-session';
export { NameBudget } from '../src/server/name-budget';
export { SendBudget } from '../src/server/send-budget';
export { Subscribers } from '../src/server/subscribers';
