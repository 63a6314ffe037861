import {
  checkStorable,
  FieldPath,
  isSurelyStorable,
  jsonBytes,
  shortened,
  Violations,
  type Identity,
  type JsonObject,
  type Kind,
  type Violation,
} from '@causeway/resources';

/** The part of a received resource that is validated. */
export interface InboundResource {
  readonly id: Identity;
  readonly uid: string;
  /** In the form of the peer, not validated yet. */
  readonly labels: Readonly<Record<string, unknown>>;
  readonly spec: JsonObject;
  readonly status?: JsonObject | undefined;
  readonly generation: number;
  readonly creationOrder: number;
  readonly revision: number;
}

/** Grammar of the parts of an identity in Kuma: RFC 1123 names, and underscores. */
const NAME = /^[a-z0-9._-]{1,253}$/;
const UID = /^[A-Za-z0-9._:-]{1,64}$/;
/** A prefix of 253 characters, a slash, a name of 63. */
const MAX_KEY_LENGTH = 317;
/** Display names and Kuma's own labels are longer than the values that users may write. */
const MAX_VALUE_LENGTH = 253;

/**
 * Returns why sync rejects a resource, or undefined if it accepts it. It rejects an identity that breaks the grammar of
 * the wire, text that no store can hold, more bytes, labels, items or characters than the kind allows, and wrong JSON
 * types. The reason names the field, the rule and the value, shortened. Other violations are tolerated and reported as
 * a condition (docs/design.md §5 "Strict at the door, tolerant on the wire"). Pure, linear in the size of the resource;
 * only the first violation is reported.
 */
export function inboundViolation(kind: Kind, resource: InboundResource): string | undefined {
  const violation =
    identityViolation(kind, resource) ??
    countViolation(resource) ??
    labelCountViolation(kind, resource) ??
    (isSmall(kind, resource) ? undefined : (sizeViolation(kind, resource) ?? textViolation(resource))) ??
    labelViolation(resource) ??
    kind.shapeViolation(resource.spec, FieldPath.at('spec'));
  return violation && `${violation.field}: ${violation.reason} (${violation.rule})`;
}

function identityViolation(kind: Kind, { id, uid }: InboundResource): Violation | undefined {
  const { mesh, zone, namespace, name } = id;
  const parts: readonly (readonly [field: string, text: string, needed: boolean])[] = [
    ['name', name, true],
    ['mesh', mesh, kind.scope === 'mesh'],
    ['zone', zone, false],
    ['namespace', namespace, kind.namespaced],
  ];
  for (const [field, text, needed] of parts) {
    if (text === '' ? !needed : NAME.test(text)) continue;
    return FieldPath.at(field).violation(
      text === '' ? 'is required' : `must be 1 to 253 of a-z, 0-9, '.', '_', '-'; got ${quoted(text)}`,
      text === '' ? 'required' : text.length > MAX_VALUE_LENGTH ? 'too-long' : 'wrong-form',
    );
  }
  if (UID.test(uid)) return undefined;
  return FieldPath.at('uid').violation(
    `must be 1 to 64 letters, digits, '.', '_', ':', '-'; got ${quoted(uid)}`,
    'wrong-form',
  );
}

function countViolation({ generation, creationOrder, revision }: InboundResource): Violation | undefined {
  for (const [field, count] of Object.entries({ generation, creationOrder, revision }))
    if (!Number.isSafeInteger(count) || count < 0)
      return FieldPath.at(field).violation(`must be a whole number from 0; got ${count}`, 'out-of-range');
  return undefined;
}

function labelCountViolation({ bounds }: Kind, { labels }: InboundResource): Violation | undefined {
  const count = Object.keys(labels).length;
  if (count <= bounds.labels) return undefined;
  return FieldPath.at('labels').violation(`must be at most ${bounds.labels}, are ${count}`, 'too-many');
}

/** Fast check for the usual case, a small resource of plain text: it replaces the checks of size and text. */
function isSmall({ bounds }: Kind, { labels, spec, status }: InboundResource): boolean {
  return isSurelyStorable([labels, spec, status], bounds.bytes);
}

function sizeViolation({ bounds }: Kind, { labels, spec, status }: InboundResource): Violation | undefined {
  const bytes = jsonBytes(labels, bounds.bytes) + jsonBytes(spec, bounds.bytes);
  if (bytes > bounds.bytes) return tooLarge('spec', 'with its labels ', bounds.bytes);
  return jsonBytes(status, bounds.bytes) > bounds.bytes ? tooLarge('status', '', bounds.bytes) : undefined;
}

function tooLarge(field: string, what: string, most: number): Violation {
  return FieldPath.at(field).violation(
    `must ${what}not be larger than ${most} bytes of JSON, 64 levels deep`,
    'too-large',
  );
}

function labelViolation({ labels }: InboundResource): Violation | undefined {
  const at = FieldPath.at('labels');
  for (const [key, value] of Object.entries(labels)) {
    if (typeof value !== 'string') return at.field(key).violation('must be a string', 'wrong-type');
    if (key.length > MAX_KEY_LENGTH)
      return at.field(key).violation(`has a key longer than ${MAX_KEY_LENGTH} characters: ${key.length}`, 'too-long');
    if (value.length > MAX_VALUE_LENGTH)
      return at
        .field(key)
        .violation(`must not be longer than ${MAX_VALUE_LENGTH} characters, has ${value.length}`, 'too-long');
  }
  return undefined;
}

function textViolation({ labels, spec, status }: InboundResource): Violation | undefined {
  const found = new Violations(1);
  checkStorable(labels, FieldPath.at('labels'), found);
  checkStorable(spec, FieldPath.at('spec'), found);
  checkStorable(status, FieldPath.at('status'), found);
  return found.first[0];
}

function quoted(text: string): string {
  return JSON.stringify(shortened(text, 80));
}
