import { isJsonArray, isJsonObject, type JsonObject } from '@causeway/resources';
import type { AuthorityState, RotatedAuthority, RotationStep } from './authority-rotation';
import type { SealedText } from './sealing-keys';

/** Stored authority: its certificate, and its sealed key. */
export interface StoredAuthority extends RotatedAuthority {
  /** PEM. */
  readonly certificate: string;
  readonly key: SealedText;
}

/** Maximum number of authorities of a state: the signing one, and one that is introduced or retired. */
const MAX_AUTHORITIES = 2;

/** Decodes the state in a metadata entry; undefined if any part of it is invalid. */
export function decodeAuthorityState(stored: JsonObject): AuthorityState<StoredAuthority> | undefined {
  const { version, signing, authorities, step } = stored;
  if (version !== 1 || typeof signing !== 'string' || !isJsonArray(authorities)) return undefined;
  const decoded = authorities.flatMap(decodeAuthority);
  const rotation = decodeStep(step);
  const isWhole = decoded.length === authorities.length && decoded.length <= MAX_AUTHORITIES;
  if (!isWhole || !rotation || !decoded.some(({ id }) => id === signing)) return undefined;
  return { signing, authorities: decoded, step: rotation };
}

function decodeAuthority(value: unknown): readonly StoredAuthority[] {
  if (!isJsonObject(value)) return [];
  const { id, certificate, key, longestValidity } = value;
  const sealed = decodeSealed(key);
  if (typeof id !== 'string' || typeof certificate !== 'string' || typeof longestValidity !== 'number' || !sealed)
    return [];
  return [{ id, certificate, key: sealed, longestValidity }];
}

function decodeSealed(value: unknown): SealedText | undefined {
  if (!isJsonObject(value)) return undefined;
  const { keyId, nonce, sealed } = value;
  const isWhole = typeof keyId === 'string' && typeof nonce === 'string' && typeof sealed === 'string';
  return isWhole ? { keyId, nonce, sealed } : undefined;
}

function decodeStep(value: unknown): RotationStep | undefined {
  if (!isJsonObject(value)) return undefined;
  const { type } = value;
  if (type === 'steady') return { type };
  if (type === 'trusting') {
    const { next, startedAt, deadline } = value;
    const isWhole = typeof next === 'string' && typeof startedAt === 'number' && typeof deadline === 'number';
    return isWhole ? { type, next, startedAt, deadline } : undefined;
  }
  if (type !== 'retiring') return undefined;
  const { old, dropAt, usedSince, usedBy, missing } = value;
  if (typeof old !== 'string' || typeof dropAt !== 'number' || typeof usedSince !== 'number') return undefined;
  if (usedBy !== 'acks' && usedBy !== 'deadline' && usedBy !== 'force') return undefined;
  const names = isJsonArray(missing) ? missing.filter((name) => typeof name === 'string') : [];
  return { type, old, dropAt, usedSince, usedBy, missing: names };
}
