import { Label, type Labels } from '@causeway/resources';

const SAFE = 'bcdfghjklmnpqrstvwxz2456789';
const SAFE_DIGITS: readonly string[] = Array.from('0123456789abcdef', (digit) =>
  SAFE.charAt(digit.charCodeAt(0) % SAFE.length),
);
const HASH_LENGTH = 17;
const MAX_PREFIX_LENGTH = 253 - HASH_LENGTH;
const TWO_32 = 0x1_0000_0000;

/** Kinds whose name is sent without a hash (docs/reference/kds-wire.md §3.1 skipHash). */
const KEPT: ReadonlySet<string> = new Set(['Mesh', 'Config', 'Secret', 'GlobalSecret']);

/** The parts of a resource that determine its wire name; `name` is used only without a display-name label. */
export interface WireNamed {
  readonly kind: string;
  /** Empty for kinds of global scope. */
  readonly mesh: string;
  readonly name: string;
  readonly labels: Labels;
}

/**
 * Returns Kuma's name for a resource outside its control plane: at most 236 bytes of the name, `-` and 16 characters of a hash over mesh,
 * whole name and `extra`, joined without separators (docs/reference/kds-wire.md §4.1). Different inputs may have the same name.
 */
export function hashName(mesh: string, name: string, ...extra: readonly string[]): string {
  const prefix =
    Buffer.byteLength(name, 'utf8') > MAX_PREFIX_LENGTH
      ? Buffer.from(name, 'utf8').toString('utf8', 0, MAX_PREFIX_LENGTH)
      : name;
  return `${prefix}-${safeHash(mesh + name + extra.join(''))}`;
}

/**
 * Returns the name of a resource on the KDS wire: hashed with its zone and namespace labels if it has them, and therefore the
 * same on every control plane; `Mesh`, `Config` and secrets keep their names (docs/reference/kds-wire.md §4.1, §4.2).
 */
export function wireName(resource: WireNamed): string {
  const { kind, mesh, name, labels } = resource;
  if (KEPT.has(kind)) return name;
  const extra = [labels[Label.zone], labels[Label.namespace]].filter((part) => part !== undefined);
  return hashName(mesh, labels[Label.displayName] || name, ...extra);
}

/** True for kinds whose wire name is their plain name. */
export function keepsNameOnWire(kind: string): boolean {
  return KEPT.has(kind);
}

/** Returns FNV-1a with 64 bits over UTF-8, in two halves of 32: BigInt would cost ten times as much. */
function safeHash(text: string): string {
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  const bytes = Buffer.from(text, 'utf8');
  for (let i = 0; i < bytes.length; i++) {
    low = (low ^ (bytes[i] ?? 0)) >>> 0;
    // The prime is 2^40 + 0x1b3; every product stays below 2^53.
    const product = low * 0x1b3;
    high = (high * 0x1b3 + Math.floor(product / TWO_32) + low * 0x100) % TWO_32;
    low = product % TWO_32;
  }
  return encodeHalf(high) + encodeHalf(low);
}

/** Returns eight hex digits, written in the letters that Kubernetes considers safe in names. */
function encodeHalf(half: number): string {
  let out = '';
  for (let shift = 28; shift >= 0; shift -= 4) out += SAFE_DIGITS[(half >>> shift) & 0xf] ?? '';
  return out;
}
