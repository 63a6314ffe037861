import type { SortKey } from './sorted-index';

/** A place in the order of a list as text for a URL. Opaque to users: only `decodeCursor` reads it. */
export function encodeCursor({ mesh, name, zone, namespace }: SortKey): string {
  return Buffer.from(JSON.stringify([mesh, name, zone, namespace]), 'utf8').toString('base64url');
}

/** The place that a cursor stands for; undefined for what `encodeCursor` did not make. */
export function decodeCursor(cursor: string): SortKey | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (!Array.isArray(parts) || parts.length !== 4) return undefined;
    const [mesh, name, zone, namespace] = parts.map((part: unknown) => (typeof part === 'string' ? part : undefined));
    if (mesh === undefined || name === undefined || zone === undefined || namespace === undefined) return undefined;
    return { mesh, name, zone, namespace };
  } catch {
    return undefined;
  }
}
