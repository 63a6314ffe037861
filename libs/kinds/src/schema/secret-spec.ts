import { Type } from 'typebox';
import type { FieldPath, Violation } from '@causeway/resources';
import { strict } from './schema-parts';

/** Like in Kubernetes, a secret may hold the certificates of many authorities. */
export const secretBounds = { bytes: 1024 * 1024 } as const;

/** The spec of a secret. */
export const SecretSpec = Type.Object(
  { data: Type.String({ minLength: 1, maxLength: secretBounds.bytes }) },
  { ...strict, examples: [{ data: 'c2VjcmV0Cg==' }] },
);

/** A violation where the value is not base64 (RFC 4648 §4; line breaks are allowed); it never repeats the value. */
export function base64Problem(spec: { readonly data: string }, at: FieldPath): Violation[] {
  const text = spec.data.replace(/[\r\n]/g, '');
  if (/^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0) return [];
  return [at.field('data').violation('must be base64')];
}
