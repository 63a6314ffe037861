import { Type, type Static } from 'typebox';
import { isJsonObject, type FieldPath, type JsonObject, type JsonValue, type Violation } from '@causeway/resources';
import { NonEmpty, Optionals, Pem, strict } from './schema-parts';

/** Fields of Kuma's form up to 2.14.5: exactly one of them must be set. */
const UNTYPED = ['secret', 'inline', 'inlineString'] as const;
/** The field that belongs to each type of the form of Kuma 2.14.6 and 3. */
const TYPED = { Secret: 'secretRef', InsecureInline: 'insecureInline' } as const;

/**
 * Source of a certificate or key of a MeshExternalService in either of Kuma's forms (docs/reference/kuma-2.14.md §1): one of `secret`,
 * `inline`, `inlineString`, or a `type` with its field. Files and environment variables of the proxy's host are not supported.
 */
export const CertificateSource = Optionals({
  secret: NonEmpty,
  inline: Pem,
  inlineString: Pem,
  type: Type.Enum(['Secret', 'InsecureInline']),
  secretRef: Type.Object({ kind: Type.Enum(['Secret']), name: NonEmpty }, strict),
  insecureInline: Type.Object({ value: Pem }, strict),
});

/** A source in either form, as written. */
export type CertificateSourceSpec = Static<typeof CertificateSource>;

/** A source in either form, as read: a Secret of the mesh by name, or the text itself. */
export type ReadSource =
  { readonly type: 'secret'; readonly name: string } | { readonly type: 'inline'; readonly text: string };

/** Returns violations if a source does not have exactly one form. */
export function checkSource(source: CertificateSourceSpec | undefined, at: FieldPath): Violation[] {
  if (source === undefined) return [];
  const { type } = source;
  if (type === undefined)
    return Object.keys(source).length === 1 && UNTYPED.some((field) => source[field] !== undefined)
      ? []
      : [at.violation('must have exactly one of secret, inline, inlineString, or a type with its field')];
  const wanted = TYPED[type];
  const others = Object.keys(source).filter((field) => field !== 'type' && field !== wanted);
  return [
    ...(source[wanted] === undefined ? [at.field(wanted).violation(`is required with type ${type}`, 'required')] : []),
    ...others.map((field) => at.field(field).violation(`must be left out with type ${type}`)),
  ];
}

/** Reads a valid source; undefined if there is none. */
export function readSource(source: CertificateSourceSpec | undefined): ReadSource | undefined {
  if (source === undefined) return undefined;
  const { secret, inline, inlineString, secretRef, insecureInline } = source;
  const name = secret ?? secretRef?.name;
  if (name !== undefined) return { type: 'secret', name };
  const text = inlineString ?? insecureInline?.value ?? (inline === undefined ? undefined : decodePem(inline));
  return text === undefined ? undefined : { type: 'inline', text };
}

/** Decodes PEM that may be base64: Kuma expects base64 in "inline"; plain PEM is accepted too. */
export function decodePem(text: string): string {
  return text.includes('-----BEGIN ') ? text : Buffer.from(text, 'base64').toString('utf8');
}

/** Kuma's two forms of a source. */
export type SourceForm = 'untyped' | 'typed';

/** Fields of a MeshExternalService that hold sources, below `tls.verification`. */
const SOURCE_FIELDS = ['caCert', 'clientCert', 'clientKey'] as const;

/** Returns the spec of a MeshExternalService with all sources in one form; the same object if nothing changes. */
export function withSourcesIn(form: SourceForm, spec: JsonObject): JsonObject {
  const { tls } = spec;
  const verification = isJsonObject(tls) ? tls['verification'] : undefined;
  if (!isJsonObject(tls) || !isJsonObject(verification)) return spec;
  const changed = SOURCE_FIELDS.flatMap((field): [string, JsonValue][] => {
    const source = verification[field];
    if (!isJsonObject(source) || (source['type'] === undefined) === (form === 'untyped')) return [];
    return [[field, form === 'typed' ? typedSource(source) : untypedSource(source)]];
  });
  if (changed.length === 0) return spec;
  return { ...spec, tls: { ...tls, verification: { ...verification, ...Object.fromEntries(changed) } } };
}

function typedSource({ secret, inline, inlineString }: JsonObject): JsonObject {
  if (typeof secret === 'string') return { type: 'Secret', secretRef: { kind: 'Secret', name: secret } };
  const value = typeof inline === 'string' ? decodePem(inline) : (inlineString ?? '');
  return { type: 'InsecureInline', insecureInline: { value } };
}

function untypedSource({ secretRef, insecureInline }: JsonObject): JsonObject {
  if (isJsonObject(secretRef)) return { secret: secretRef['name'] ?? '' };
  return { inlineString: (isJsonObject(insecureInline) ? insecureInline['value'] : undefined) ?? '' };
}
