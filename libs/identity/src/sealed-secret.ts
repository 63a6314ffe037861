import { isJsonObject, type JsonObject } from '@causeway/resources';
import type { OpenedText, SealedText, SealingKeys } from './sealing-keys';

/** The label of a Secret whose data only the sealing keys of its own control plane open. */
export const SEALED_LABEL = 'causeway.io/sealed';

/** A Secret as far as sealing looks at it. */
export interface SecretText {
  readonly mesh: string;
  readonly name: string;
}

/**
 * The spec of a Secret whose text is sealed. The same text of the same Secret seals to the same bytes while the first key
 * is the same, so that a copy that comes again is no change.
 */
export function sealedSpec(keys: SealingKeys, of: SecretText, text: string): JsonObject {
  const sealed = keys.sealRepeatably(text, formatPurpose(of));
  return { data: Buffer.from(JSON.stringify(sealed)).toString('base64') };
}

/** The text of a Secret that `sealedSpec` made. */
export function openedText(keys: SealingKeys, of: SecretText, spec: JsonObject): OpenedText {
  const sealed = sealedText(spec);
  return sealed ? keys.open(sealed, formatPurpose(of)) : { ok: false, reason: 'its data is not sealed' };
}

/** The id of the key that a Secret is sealed with; undefined where it is not sealed. */
export function sealedWith(spec: JsonObject): string | undefined {
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
