import { ENVOY_MESSAGES, type FieldSchema, type MessageSchema, type ValueRules } from '@causeway/proto-gen';
import type { Violation } from '@causeway/resources';
import { brokenRules, outOfRange, type BrokenRule } from './value-rules';
import { getDefaultValue, readMessage, type WireMessage, type WireValue } from './wire-message';

/** Maximum number of violations that are reported for one message. */
const MAX_VIOLATIONS = 20;
/** Maximum nesting of messages; Envoy's own limit is 100. */
const DEEPEST = 64;

const EMPTY = Buffer.alloc(0);
const NO_VALUES: readonly WireValue[] = [];
const ANY = 'google.protobuf.Any';
const DURATION = 'google.protobuf.Duration';
const WRAPPER = /^google\.protobuf\.(?:U?Int(?:32|64)|Double|Float|Bool|String|Bytes)Value$/;

/** Inspects a message by its field numbers, without the messages nested in it. Returns why the message is refused; undefined if it is not. */
export type MessageVisitor = (name: string, fields: WireMessage['values']) => string | undefined;

/**
 * Returns the violations for which Envoy would refuse a message: the constraints in its protos (protoc-gen-validate), also in nested messages. Types,
 * fields and enum values that are missing from the trimmed protos are violations too. Linear in the bytes. `visit` is called for the message and each
 * nested message, parents first.
 */
export function checkMessage(typeUrl: string, bytes: Uint8Array, visit?: MessageVisitor): readonly Violation[] {
  const check = new MessageCheck(visit);
  const name = typeUrl.slice(typeUrl.lastIndexOf('/') + 1);
  check.message(name, bytes, name.slice(name.lastIndexOf('.') + 1), 0);
  return check.violations;
}

const ruledFields = new WeakMap<MessageSchema, readonly (readonly [number, FieldSchema])[]>();

/** Returns the fields of a schema that have rules, which concern a field that is absent too; each schema is read once. */
function listRuledFields(schema: MessageSchema): readonly (readonly [number, FieldSchema])[] {
  const known = ruledFields.get(schema);
  if (known) return known;
  const fields = Object.entries(schema.fields).flatMap(([key, field]) =>
    field.rules ? [[Number(key), field] as const] : [],
  );
  ruledFields.set(schema, fields);
  return fields;
}

class MessageCheck {
  readonly violations: Violation[] = [];
  /** Packed messages without violations, keyed by depth, type and bytes: the chains of one listener contain equal ones. */
  private readonly sound = new Set<string>();

  constructor(private readonly visit: MessageVisitor | undefined) {}

  message(name: string, bytes: Uint8Array, path: string, depth: number): void {
    const schema = ENVOY_MESSAGES[name];
    if (!schema) return this.add(path, 'not-one-of', `the type ${name.slice(0, 200)} is not known`);
    if (depth > DEEPEST) return this.add(path, 'too-deep', `more than ${DEEPEST} messages within each other`);
    const message = this.read(schema, bytes, path);
    if (!message) return;
    const reason = this.visit?.(name, message.values);
    if (reason !== undefined) return this.add(path, 'not-allowed', reason);
    for (const number of message.unknown) this.add(path, 'unknown-field', `field ${number} of ${name} is not known`);
    for (const [number, field] of listRuledFields(schema))
      if (!message.values.has(number)) this.field(field, NO_VALUES, `${path}.${field.name}`, depth);
    for (const [number, values] of message.values) {
      const field = schema.fields[number];
      if (field) this.field(field, values, `${path}.${field.name}`, depth);
    }
    for (const [oneof, members] of schema.oneofs ?? [])
      if (!members.some((number) => message.values.has(number)))
        this.add(`${path}.${oneof}`, 'required', 'must be set');
    if (name === ANY) this.packed(message, path, depth);
  }

  private read(schema: MessageSchema, bytes: Uint8Array, path: string): WireMessage | undefined {
    try {
      return readMessage(schema, bytes);
    } catch (error) {
      this.add(path, 'wrong-form', `no message: ${error instanceof Error ? error.message : 'it cannot be read'}`);
      return undefined;
    }
  }

  private packed(any: WireMessage, path: string, depth: number): void {
    const [url, bytes] = [any.values.get(1)?.[0], any.values.get(2)?.[0]];
    const name = typeof url === 'string' ? url.slice(url.lastIndexOf('/') + 1) : '';
    const content = bytes instanceof Uint8Array ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) : EMPTY;
    const key = `${depth} ${name} ${content.toString('latin1')}`;
    if (!this.visit && this.sound.has(key)) return;
    const before = this.violations.length;
    this.message(name, content, `${path}<${name.slice(name.lastIndexOf('.') + 1)}>`, depth + 1);
    if (this.violations.length === before) this.sound.add(key);
  }

  private field(field: FieldSchema, values: readonly WireValue[], path: string, depth: number): void {
    const { rules, repeated, type, optional } = field;
    if (repeated) return this.items(field, values, path, depth);
    const [value] = values;
    if (type === 'message') {
      if (value instanceof Uint8Array) this.checkNested(field, rules, value, { path, depth });
      else if (rules?.required && !optional) this.add(path, 'required', 'must be set');
    } else if (rules && !(value === undefined && optional)) {
      this.report(path, brokenRules(value ?? getDefaultValue(type), rules, field));
    }
  }

  private items(field: FieldSchema, values: readonly WireValue[], path: string, depth: number): void {
    const { rules = {}, type } = field;
    const { minItems = 0, maxItems = Infinity } = rules;
    if (values.length < minItems) this.add(path, 'too-few', `must have at least ${minItems}, has ${values.length}`);
    if (values.length > maxItems) this.add(path, 'too-many', `must have at most ${maxItems}, has ${values.length}`);
    if (rules.unique && new Set(values).size < values.length) this.add(path, 'not-unique', 'has a value twice');
    values.forEach((value, i) => {
      const at = `${path}[${i}]`;
      if (type === 'message' && value instanceof Uint8Array)
        this.checkNested(field, rules.items, value, { path: at, depth });
      else if (rules.items) this.report(at, brokenRules(value, rules.items, field));
      if (rules.keys && value instanceof Uint8Array) this.key(field, rules.keys, value, at);
    });
  }

  /** Checks a nested message, and the constraints of its field on wrappers and durations. */
  private checkNested(
    { message = '' }: FieldSchema,
    rules: ValueRules | undefined,
    bytes: Uint8Array,
    at: { readonly path: string; readonly depth: number },
  ): void {
    this.message(message, bytes, at.path, at.depth + 1);
    const schema = ENVOY_MESSAGES[message];
    const inner =
      rules && schema && (message === DURATION || WRAPPER.test(message)) && this.read(schema, bytes, at.path);
    if (!rules || !schema || !inner) return;
    const field = schema.fields[1];
    const value = inner.values.get(1)?.[0];
    if (message !== DURATION) {
      if (field) this.report(at.path, brokenRules(value ?? getDefaultValue(field.type), rules, field));
    } else {
      this.report(at.path, outOfRange(Number(value ?? 0) + Number(inner.values.get(2)?.[0] ?? 0) / 1e9, rules));
    }
  }

  /** Checks the key of a map entry. */
  private key({ message = '' }: FieldSchema, rules: ValueRules, entry: Uint8Array, path: string): void {
    const schema = ENVOY_MESSAGES[message];
    const field = schema?.fields[1];
    const read = schema && this.read(schema, entry, path);
    if (field && read)
      this.report(path, brokenRules(read.values.get(1)?.[0] ?? getDefaultValue(field.type), rules, field));
  }

  private report(path: string, broken: readonly BrokenRule[]): void {
    for (const { rule, reason } of broken) this.add(path, rule, reason);
  }

  private add(field: string, rule: Violation['rule'], reason: string): void {
    if (this.violations.length < MAX_VIOLATIONS) this.violations.push({ field: field.slice(0, 512), rule, reason });
  }
}
