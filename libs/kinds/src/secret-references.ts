import { isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';

/** Use of a Secret by a resource: certificates, or a private key. */
type SecretUse = 'certificate' | 'key';

/** A field of a resource that names a Secret of its mesh. */
export interface SecretReference {
  /** As users write it: `spec.tls.verification.caCert.secret`. */
  readonly field: string;
  readonly secret: string;
  readonly use: SecretUse;
}

interface SecretPath {
  readonly path: readonly string[];
  readonly use: SecretUse;
}

/**
 * Fields of kinds that name Secrets: docs/reference/references.md lists them, and `secret-references.spec.ts` walks the
 * registry for others.
 */
const PLACES: Readonly<Record<string, readonly SecretPath[]>> = {
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

/** Kinds of which some field names a Secret. */
export const KINDS_WITH_SECRETS: readonly string[] = Object.keys(PLACES);

/** The Secrets that a resource names, in any form that can be read. Pure. */
export function secretReferences(kind: string, spec: JsonObject): readonly SecretReference[] {
  return (PLACES[kind] ?? []).flatMap(({ path, use }) => {
    const at = ['spec', ...path].join('.');
    const source = path.reduce<JsonValue | undefined>(
      (value, field) => (isJsonObject(value) ? value[field] : undefined),
      spec,
    );
    return namesIn(source).map(([field, secret]) => ({ field: `${at}.${field}`, secret, use }));
  });
}

/** Both forms: a document of two forms is refused elsewhere, but names both. */
function namesIn(source: JsonValue | undefined): readonly (readonly [field: string, name: string])[] {
  if (!isJsonObject(source)) return [];
  const { secret, secretRef } = source;
  const name = isJsonObject(secretRef) ? secretRef['name'] : undefined;
  return [
    ...(typeof secret === 'string' ? [['secret', secret] as const] : []),
    ...(typeof name === 'string' ? [['secretRef.name', name] as const] : []),
  ];
}
