import { parseAddress } from '@causeway/ipam';
import { isJsonArray, isJsonObject, type Identity, type JsonValue } from '@causeway/resources';
import type { Change } from './resource-store';

/** Maximum nesting that a store accepts: far above any document, far below what exhausts a database's stack. */
const MAX_DEPTH = 100;
/** Maximum length of a part of an identity, bytes: five of them still fit into a page of a database's index. */
const MAX_IDENTITY_PART = 500;
// Postgres has no NUL in texts, and half a surrogate pair is not Unicode.
const UNTEXT = /[\0\p{Surrogate}]/u;

/** Returns why no store can hold `change` (invalid text, nested too deeply, too long), or undefined. */
export function unstorable(change: Change): string | undefined {
  const identity = unstorableIdentity(change.id);
  if (identity !== undefined || change.type === 'delete') return identity;
  const vip = change.type === 'patch' ? change.vip : change.initial?.vip;
  if (typeof vip === 'string' && !parseAddress(vip)) return `${vip} is no address`;
  const parts: readonly (JsonValue | undefined)[] =
    change.type === 'put'
      ? [change.labels, change.spec, change.status, change.initial?.status]
      : [change.spec, change.status];
  for (const part of parts) {
    const reason = unstorableValue(part, 0);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function unstorableIdentity(id: Identity): string | undefined {
  for (const part of [id.kind, id.mesh, id.zone, id.namespace, id.name]) {
    if (UNTEXT.test(part)) return 'the identity holds a character that is not text';
    if (Buffer.byteLength(part) > MAX_IDENTITY_PART)
      return `a part of the identity is longer than ${MAX_IDENTITY_PART} bytes`;
  }
  return undefined;
}

function unstorableValue(value: JsonValue | undefined, depth: number): string | undefined {
  if (typeof value === 'string') return UNTEXT.test(value) ? 'holds a character that is not text' : undefined;
  if (depth > MAX_DEPTH) return `is nested more than ${MAX_DEPTH} levels deep`;
  if (isJsonArray(value)) return firstReason(value, depth);
  if (!isJsonObject(value)) return undefined;
  for (const key in value) {
    if (UNTEXT.test(key)) return 'holds a key that is not text';
    const reason = unstorableValue(value[key], depth + 1);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function firstReason(items: readonly JsonValue[], depth: number): string | undefined {
  for (const item of items) {
    const reason = unstorableValue(item, depth + 1);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
