import { Type } from 'typebox';
import type { FieldPath, Violation } from '@causeway/resources';
import { strict } from './schema-parts';
import { SecretUsers } from './secret-users';

/** Maximum size as in Kubernetes: a secret may hold the certificates of many authorities. */
export const secretBounds = { bytes: 1024 * 1024 } as const;

const Data = Type.String({ minLength: 1, maxLength: secretBounds.bytes });

/** Spec of a secret outside meshes, used by the control plane only; no resource can name it. */
export const GlobalSecretSpec = Type.Object({ data: Data }, { ...strict, examples: [{ data: 'c2VjcmV0Cg==' }] });

/** Spec of a secret of a mesh. */
export const SecretSpec = Type.Object(
  { data: Data, usedBy: Type.Optional(SecretUsers) },
  { ...strict, examples: [{ data: 'c2VjcmV0Cg==', usedBy: [{ kind: 'MeshExternalService', name: 'api' }] }] },
);

/** Returns a violation if the value is not base64 (RFC 4648 §4; line breaks are allowed). The violation never repeats the value. */
export function base64Problem(spec: { readonly data: string }, at: FieldPath): Violation[] {
  const text = spec.data.replace(/[\r\n]/g, '');
  if (/^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0) return [];
  return [at.field('data').violation('must be base64')];
}
