import { isJsonObject, type JsonObject } from '@causeway/resources';
import type { OpenedText, SealedText, SealingKeys } from './sealing-keys';

/** Label of a Secret whose data only the sealing keys of its own control plane open. */
export const SEALED_LABEL = 'causeway.io/sealed';

/** Fields of a Secret that sealing reads. */
export interface SecretText {
  readonly mesh: string;
  readonly name: string;
}

/**
 * Returns the spec of a Secret with sealed text. With the same first key, equal texts seal to equal bytes, so that
 * receiving a copy again is no change.
 */
export function sealSpec(keys: SealingKeys, of: SecretText, text: string): JsonObject {
  const sealed = keys.sealRepeatably(text, formatPurpose(of));
  return { data: Buffer.from(JSON.stringify(sealed)).toString('base64') };
}

/** Opens the text of a Secret sealed by `sealSpec`. */
export function openSealedText(keys: SealingKeys, of: SecretText, spec: JsonObject): OpenedText {
  const sealed = sealedText(spec);
  return sealed ? keys.open(sealed, formatPurpose(of)) : { ok: false, reason: 'its data is not sealed' };
}

/** Returns the id of the key that sealed a Secret; undefined if it is not sealed. */
export function findSealingKeyId(spec: JsonObject): string | undefined {
  return sealedText(spec)?.keyId;
}

function sealedText({ data }: JsonObject): SealedText | undefined {
  if (typeof data !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(data, 'base64').toString('utf8'));
    if (!isJsonObject(value)) return undefined;
    const { keyId, nonce, sealed } = value;
    const isWhole = typeof keyId === 'string' && typeof nonce === 'string' && typeof sealed === 'string';
    return isWhole ? { keyId, nonce, sealed } : undefined;
  } catch {
    return undefined;
  }
}

function formatPurpose({ mesh, name }: SecretText): string {
  return `secret/${mesh}/${name}`;
}
