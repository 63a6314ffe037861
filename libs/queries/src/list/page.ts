import type { Identity } from '@causeway/resources';

/** The part of an identity that lists are sorted by; unique within a kind. */
export type SortKey = Pick<Identity, 'mesh' | 'name' | 'zone' | 'namespace'>;

/** Selects a page of a list. */
export interface PageRequest {
  readonly size: number;
  /** Start of the page: after a number of items, or after a sort key (undefined: at the beginning). */
  readonly start:
    | { readonly type: 'offset'; readonly offset: number }
    | { readonly type: 'after'; readonly key: SortKey | undefined };
}

/** Encodes a sort key as text for a URL or a page token. Opaque to users: only `decodeCursor` reads it. */
export function encodeCursor({ mesh, name, zone, namespace }: SortKey): string {
  return Buffer.from(JSON.stringify([mesh, name, zone, namespace]), 'utf8').toString('base64url');
}

/** Decodes a cursor; undefined for text that `encodeCursor` did not create. */
export function decodeCursor(cursor: string): SortKey | undefined {
  try {
    const fields: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (!Array.isArray(fields) || fields.length !== 4) return undefined;
    const [mesh, name, zone, namespace] = fields.map((field: unknown) =>
      typeof field === 'string' ? field : undefined,
    );
    if (mesh === undefined || name === undefined || zone === undefined || namespace === undefined) return undefined;
    return { mesh, name, zone, namespace };
  } catch {
    return undefined;
  }
}
