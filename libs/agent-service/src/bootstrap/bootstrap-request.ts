import { FieldPath, Invalid, isJsonArray, isJsonObject, type JsonObject, type Violation } from '@causeway/resources';

/** What a proxy's starter asks for, as Kuma's `kuma-dp` sends it (docs/reference/xds.md, Bootstrap). */
export interface BootstrapRequest {
  readonly mesh: string;
  readonly name: string;
  readonly proxyType: 'dataplane' | 'ingress' | 'egress';
  readonly token: string;
  /** The Dataplane as JSON, where the proxy brings it along. */
  readonly document?: string;
  readonly version: JsonObject;
  readonly features: readonly string[];
  readonly dynamicMetadata: Readonly<Record<string, string>>;
  /** The file of the authorities that the machine of the proxy believes. */
  readonly systemCaPath?: string;
  /** The authority by which the starter verified this control plane. */
  readonly authority?: string;
}

const LONGEST_NAME = 512;
const LONGEST_TOKEN = 16 * 1024;
const LONGEST_DOCUMENT = 128 * 1024;
const LONGEST_AUTHORITY = 64 * 1024;
const LONGEST_VERSION = 16 * 1024;
const LONGEST_PATH = 4_096;
const MOST_FEATURES = 256;
const MOST_METADATA = 256;
const LONGEST_METADATA = 4_096;

const TYPES = ['dataplane', 'ingress', 'egress'] as const;
const AT = FieldPath.at();

/** Reads a request; fields that it does not know are ignored, since starters are newer. Throws Invalid with every violation. */
export function readBootstrapRequest(body: unknown): BootstrapRequest {
  if (!isJsonObject(body)) throw new Invalid([AT.violation('must be a JSON object', 'wrong-form')]);
  const found = new Fields(body);
  const proxyType = TYPES.find((type) => type === (found.text('proxyType', LONGEST_NAME) || 'dataplane'));
  if (!proxyType) found.refuse('proxyType', `must be one of ${TYPES.join(', ')}`);
  const document = found.text('dataplaneResource', LONGEST_DOCUMENT);
  const authority = found.text('caCert', LONGEST_AUTHORITY);
  const systemCaPath = found.text('systemCaPath', LONGEST_PATH);
  const name = found.text('name', LONGEST_NAME);
  if (name === '') found.refuse('name', 'must not be empty');
  const request: BootstrapRequest = {
    name,
    mesh: found.text('mesh', LONGEST_NAME) || (proxyType === 'dataplane' ? 'default' : ''),
    proxyType: proxyType ?? 'dataplane',
    token: found.text('dataplaneToken', LONGEST_TOKEN).trim(),
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

/** The fields of a body; what is not as it must be is noted. */
class Fields {
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
    if (isJsonObject(value) && JSON.stringify(value).length <= LONGEST_VERSION) return value;
    this.refuse(field, `must be an object of at most ${LONGEST_VERSION} characters`);
    return {};
  }

  texts(field: string): readonly string[] {
    const value = this.body[field] ?? [];
    const isList = isJsonArray(value) && value.length <= MOST_FEATURES;
    const texts = isList ? value.filter((one) => typeof one === 'string' && one.length <= LONGEST_NAME) : [];
    if (!isList || texts.length !== value.length)
      this.refuse(field, `must be a list of at most ${MOST_FEATURES} texts of at most ${LONGEST_NAME} characters`);
    return texts.map(String);
  }

  textMap(field: string): Readonly<Record<string, string>> {
    const value = this.body[field] ?? {};
    const entries = isJsonObject(value) ? Object.entries(value) : [];
    const texts = entries.filter(
      (one): one is [string, string] =>
        one[0].length <= LONGEST_NAME && typeof one[1] === 'string' && one[1].length <= LONGEST_METADATA,
    );
    if (!isJsonObject(value) || entries.length > MOST_METADATA || texts.length !== entries.length)
      this.refuse(field, `must be at most ${MOST_METADATA} texts of at most ${LONGEST_METADATA} characters by name`);
    return Object.fromEntries(texts);
  }
}
