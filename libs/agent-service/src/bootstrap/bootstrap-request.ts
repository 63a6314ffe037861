import { FieldPath, Invalid, isJsonArray, isJsonObject, type JsonObject, type Violation } from '@causeway/resources';

/** Request for a bootstrap, as Kuma's `kuma-dp` sends it (docs/reference/xds.md, Bootstrap). */
export interface BootstrapRequest {
  readonly mesh: string;
  readonly name: string;
  readonly proxyType: 'dataplane' | 'ingress' | 'egress';
  readonly token: string;
  /** Dataplane as JSON, if the proxy registers it. */
  readonly document?: string;
  readonly version: JsonObject;
  readonly features: readonly string[];
  readonly dynamicMetadata: Readonly<Record<string, string>>;
  /** File of the authorities that the proxy's machine trusts. */
  readonly systemCaPath?: string;
  /** Authority by which the starter verified this control plane. */
  readonly authority?: string;
}

const MAX_NAME_LENGTH = 512;
const MAX_TOKEN_LENGTH = 16 * 1024;
const MAX_DOCUMENT_LENGTH = 128 * 1024;
const MAX_AUTHORITY_LENGTH = 64 * 1024;
const MAX_VERSION_LENGTH = 16 * 1024;
const MAX_PATH_LENGTH = 4_096;
const MAX_FEATURES = 256;
const MAX_METADATA = 256;
const MAX_METADATA_LENGTH = 4_096;

const TYPES = ['dataplane', 'ingress', 'egress'] as const;
const AT = FieldPath.at();

/** Reads a request. Unknown fields are ignored, since starters may be newer. Throws Invalid with every violation. */
export function readBootstrapRequest(body: unknown): BootstrapRequest {
  if (!isJsonObject(body)) throw new Invalid([AT.violation('must be a JSON object', 'wrong-form')]);
  const found = new BodyFields(body);
  const proxyType = TYPES.find((type) => type === (found.text('proxyType', MAX_NAME_LENGTH) || 'dataplane'));
  if (!proxyType) found.refuse('proxyType', `must be one of ${TYPES.join(', ')}`);
  const document = found.text('dataplaneResource', MAX_DOCUMENT_LENGTH);
  const authority = found.text('caCert', MAX_AUTHORITY_LENGTH);
  const systemCaPath = found.text('systemCaPath', MAX_PATH_LENGTH);
  const name = found.text('name', MAX_NAME_LENGTH);
  if (name === '') found.refuse('name', 'must not be empty');
  const request: BootstrapRequest = {
    name,
    mesh: found.text('mesh', MAX_NAME_LENGTH) || (proxyType === 'dataplane' ? 'default' : ''),
    proxyType: proxyType ?? 'dataplane',
    token: found.text('dataplaneToken', MAX_TOKEN_LENGTH).trim(),
    version: found.object('version'),
    features: found.texts('features'),
    dynamicMetadata: found.textMap('dynamicMetadata'),
    ...(document !== '' && { document }),
    ...(systemCaPath !== '' && { systemCaPath }),
    ...(authority !== '' && { authority }),
  };
  if (found.violations.length > 0) throw new Invalid(found.violations);
  return request;
}

/** Reads the fields of a body and collects violations. */
class BodyFields {
  readonly violations: Violation[] = [];

  constructor(private readonly body: JsonObject) {}

  refuse(field: string, rule: string): void {
    this.violations.push(AT.field(field).violation(rule, 'wrong-form'));
  }

  text(field: string, longest: number): string {
    const value = this.body[field] ?? '';
    if (typeof value === 'string' && value.length <= longest) return value;
    this.refuse(field, `must be a text of at most ${longest} characters`);
    return '';
  }

  object(field: string): JsonObject {
    const value = this.body[field] ?? {};
    if (isJsonObject(value) && JSON.stringify(value).length <= MAX_VERSION_LENGTH) return value;
    this.refuse(field, `must be an object of at most ${MAX_VERSION_LENGTH} characters`);
    return {};
  }

  texts(field: string): readonly string[] {
    const value = this.body[field] ?? [];
    const isList = isJsonArray(value) && value.length <= MAX_FEATURES;
    const texts = isList ? value.filter((one) => typeof one === 'string' && one.length <= MAX_NAME_LENGTH) : [];
    if (!isList || texts.length !== value.length)
      this.refuse(field, `must be a list of at most ${MAX_FEATURES} texts of at most ${MAX_NAME_LENGTH} characters`);
    return texts.map(String);
  }

  textMap(field: string): Readonly<Record<string, string>> {
    const value = this.body[field] ?? {};
    const entries = isJsonObject(value) ? Object.entries(value) : [];
    const texts = entries.filter(
      (one): one is [string, string] =>
        one[0].length <= MAX_NAME_LENGTH && typeof one[1] === 'string' && one[1].length <= MAX_METADATA_LENGTH,
    );
    if (!isJsonObject(value) || entries.length > MAX_METADATA || texts.length !== entries.length)
      this.refuse(field, `must be at most ${MAX_METADATA} texts of at most ${MAX_METADATA_LENGTH} characters by name`);
    return Object.fromEntries(texts);
  }
}
