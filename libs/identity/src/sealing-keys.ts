import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { JsonObject } from '@causeway/resources';

/** Text that only the sealing key `keyId` opens; each part base64. Safe to store without the key. */
export interface SealedText extends JsonObject {
  readonly keyId: string;
  readonly nonce: string;
  /** Ciphertext and tag of AES-256-GCM. */
  readonly sealed: string;
}

/** Opened text, or why it does not open; the reason repeats neither key nor content. */
export type OpenedText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

export type ParsedSealingKeys =
  { readonly ok: true; readonly keys: SealingKeys } | { readonly ok: false; readonly reason: string };

const [CIPHER, KEY_BYTES, NONCE_BYTES, TAG_BYTES] = ['aes-256-gcm', 32, 12, 16] as const;
/** Maximum number of keys: the sealing one, and former ones that still open. */
const MAX_KEYS = 16;
/** Maximum size of sealed text, bytes. */
const MAX_BYTES = 65_536;

/** Keys that seal secrets of a store (`CAUSEWAY_SECRETS_KEY`): the first seals, all open. */
export class SealingKeys {
  private constructor(private readonly keys: ReadonlyMap<string, Buffer>) {}

  /**
   * Parses `id:key,…`: ids of lower-case letters, digits, "-", each with 32 bytes in base64; the first key seals. No
   * reason repeats a key.
   */
  static parse(text: string): ParsedSealingKeys {
    const entries = text.split(',', MAX_KEYS + 1).map((entry) => entry.trim());
    if (entries.length > MAX_KEYS) return { ok: false, reason: `must have at most ${MAX_KEYS} keys` };
    const keys = new Map<string, Buffer>();
    for (const [i, entry] of entries.entries()) {
      const [, id, key = ''] = /^([a-z0-9-]{1,63}):([A-Za-z0-9+/]{43}=)$/.exec(entry) ?? [];
      const bytes = Buffer.from(key, 'base64');
      if (id === undefined || bytes.length !== KEY_BYTES)
        return {
          ok: false,
          reason: `key ${i + 1} must be id:key, the key 32 bytes in base64, the id of a-z, 0-9, "-"`,
        };
      if (keys.has(id)) return { ok: false, reason: `key ${i + 1} has the id "${id}" of another one` };
      keys.set(id, bytes);
    }
    return { ok: true, keys: new SealingKeys(keys) };
  }

  /** Id of the sealing key. */
  get current(): string {
    return this.keys.keys().next().value ?? '';
  }

  /** Seals a text for one purpose; it opens for that purpose only. Throws RangeError over 64 KiB. */
  seal(text: string, purpose: string): SealedText {
    return this.sealWith(text, purpose, () => randomBytes(NONCE_BYTES));
  }

  /** Like `seal`, but equal texts seal to equal bytes, which reveals only that they are equal. */
  sealRepeatably(text: string, purpose: string): SealedText {
    // The nonce depends on key, purpose and text, so no two texts share one.
    return this.sealWith(text, purpose, (key) =>
      createHmac('sha256', key)
        .update(JSON.stringify([purpose, text]))
        .digest()
        .subarray(0, NONCE_BYTES),
    );
  }

  private sealWith(text: string, purpose: string, nonceOf: (key: Buffer) => Buffer): SealedText {
    const plain = Buffer.from(text, 'utf8');
    if (plain.length > MAX_BYTES) throw new RangeError(`at most ${MAX_BYTES} bytes can be sealed, got ${plain.length}`);
    const keyId = this.current;
    const key = this.keys.get(keyId);
    if (!key) throw new RangeError('there is no key to seal with');
    const nonce = nonceOf(key);
    const cipher = createCipheriv(CIPHER, key, nonce).setAAD(associated(purpose, keyId));
    const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    return { keyId, nonce: nonce.toString('base64'), sealed: sealed.toString('base64') };
  }

  /** Opens what `seal` sealed for the same purpose, with the key of its id. */
  open({ keyId, nonce, sealed }: SealedText, purpose: string): OpenedText {
    const key = this.keys.get(keyId);
    if (!key)
      return {
        ok: false,
        reason: `it is sealed with key "${keyId.slice(0, 63)}", which is not in CAUSEWAY_SECRETS_KEY`,
      };
    const [bytes, iv] = [Buffer.from(sealed, 'base64'), Buffer.from(nonce, 'base64')];
    const end = bytes.length - TAG_BYTES;
    if (end < 0 || end > MAX_BYTES || iv.length !== NONCE_BYTES)
      return { ok: false, reason: 'its sealed form is incomplete' };
    const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
    decipher.setAAD(associated(purpose, keyId)).setAuthTag(bytes.subarray(end));
    try {
      const text = Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()]).toString('utf8');
      return { ok: true, text };
    } catch {
      return { ok: false, reason: `it does not open with key "${keyId}": it was changed, or the key is another one` };
    }
  }
}

function associated(purpose: string, keyId: string): Buffer {
  return Buffer.from(`causeway\n${purpose}\n${keyId}`, 'utf8');
}
