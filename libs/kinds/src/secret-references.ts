import { isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';

/** Expected content of a referenced Secret: certificates, or a private key. */
type SecretUse = 'certificate' | 'key';

/** A field of a resource that names a Secret of its mesh. */
export interface SecretReference {
  /** Path of the field in either of the forms that users write: `spec.tls.verification.caCert.secret`. */
  readonly field: string;
  readonly secret: string;
  readonly use: SecretUse;
}

interface SecretPath {
  readonly path: readonly string[];
  readonly use: SecretUse;
}

/**
 * Fields that name Secrets, by kind: docs/reference/references.md lists them, and `secret-references.spec.ts` searches
 * the registry for others.
 */
const SECRET_FIELDS: Readonly<Record<string, readonly SecretPath[]>> = {
  MeshExternalService: [
    { path: ['tls', 'verification', 'caCert'], use: 'certificate' },
    { path: ['tls', 'verification', 'clientCert'], use: 'certificate' },
    { path: ['tls', 'verification', 'clientKey'], use: 'key' },
  ],
  MeshIdentity: [
    { path: ['provider', 'bundled', 'ca', 'certificate'], use: 'certificate' },
    { path: ['provider', 'bundled', 'ca', 'privateKey'], use: 'key' },
  ],
};

/** Kinds that have a field which names a Secret. */
export const KINDS_WITH_SECRETS: readonly string[] = Object.keys(SECRET_FIELDS);

/** Returns the references of a resource to Secrets, in any readable form. Pure. */
export function secretReferences(kind: string, spec: JsonObject): readonly SecretReference[] {
  return (SECRET_FIELDS[kind] ?? []).flatMap(({ path, use }) => {
    const at = ['spec', ...path].join('.');
    const source = path.reduce<JsonValue | undefined>(
      (value, field) => (isJsonObject(value) ? value[field] : undefined),
      spec,
    );
    return namesIn(source).map(([field, secret]) => ({ field: `${at}.${field}`, secret, use }));
  });
}

/** Returns the names in both forms: a document with both is refused elsewhere, but both names are returned. */
function namesIn(source: JsonValue | undefined): readonly (readonly [field: string, name: string])[] {
  if (!isJsonObject(source)) return [];
  const { secret, secretRef } = source;
  const name = isJsonObject(secretRef) ? secretRef['name'] : undefined;
  return [
    ...(typeof secret === 'string' ? [['secret', secret] as const] : []),
    ...(typeof name === 'string' ? [['secretRef.name', name] as const] : []),
  ];
}
