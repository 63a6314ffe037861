/**
 * Envoy's messages as data: which fields they have on the wire, and which values Envoy accepts there. The rules are the
 * annotations of its protos (protoc-gen-validate), which every Envoy checks before it takes a resource.
 */
import { createRequire } from 'node:module';

const { getExtension, hasExtension, toJson } = createRequire(import.meta.url)('@bufbuild/protobuf');

/** FieldDescriptorProto.Type by number. */
const TYPES = [
  '',
  'double',
  'float',
  'int64',
  'uint64',
  'int32',
  'fixed64',
  'fixed32',
  'bool',
  'string',
  'group',
  'message',
  'bytes',
  'uint32',
  'enum',
  'sfixed32',
  'sfixed64',
  'sint32',
  'sint64',
];
const REPEATED = 3;

const HEAD = `
/** Rules of protoc-gen-validate for a value; durations in seconds. */
export interface ValueRules {
  /** Must be there: a message. */
  readonly required?: true;
  readonly gt?: number;
  readonly gte?: number;
  readonly lt?: number;
  readonly lte?: number;
  readonly const?: boolean;
  readonly minLen?: number;
  readonly maxLen?: number;
  readonly maxBytes?: number;
  readonly pattern?: string;
  readonly in?: readonly string[];
  readonly notIn?: readonly number[];
  readonly definedOnly?: true;
  readonly ignoreEmpty?: true;
  readonly wellKnownRegex?: 'HTTP_HEADER_NAME' | 'HTTP_HEADER_VALUE';
  readonly strict?: boolean;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly unique?: true;
  readonly items?: ValueRules;
  readonly keys?: ValueRules;
}

export interface FieldSchema {
  readonly name: string;
  /** A scalar type of protobuf, or 'message' or 'enum'. */
  readonly type: string;
  /** The full name of the message. */
  readonly message?: string;
  /** The numbers of the enum. */
  readonly values?: readonly number[];
  readonly repeated?: true;
  /** Absence differs from the default value: a member of a oneof. */
  readonly optional?: true;
  readonly rules?: ValueRules;
}

export interface MessageSchema {
  /** By number. */
  readonly fields: Readonly<Record<number, FieldSchema>>;
  /** The name and the field numbers of each oneof of which one must be set. */
  readonly oneofs?: readonly (readonly [name: string, fields: readonly number[]])[];
}

/** By full name. */
export const ENVOY_MESSAGES: Readonly<Record<string, MessageSchema>> = `;

/** The text of a module with all messages of Envoy, xDS, the well-known types and our own resources of xDS in \`set\`. */
export function messageSchemas(set, registry) {
  const rules = {
    registry,
    field: registry.getExtension('validate.rules'),
    oneof: registry.getExtension('validate.required'),
  };
  const index = { messages: new Map(), enums: new Map() };
  for (const file of set.file) indexTypes(file.messageType, file.enumType, `${file.package}.`, index);
  const wanted = [...index.messages].filter(([name]) => /^(envoy|xds|google\.protobuf|causeway\.dns)\./.test(name));
  const schemas = Object.fromEntries(wanted.map(([name, desc]) => [name, schemaOf(desc, rules, index.enums)]));
  return `${HEAD}${JSON.stringify(schemas)
    .replace(/("[\w.]+":\{"fields")/g, '\n  $1')
    .replace(/\}$/, '\n}')};\n`;
}

function indexTypes(messages, enums, prefix, index) {
  for (const { name, value } of enums) {
    const numbers = value.map(({ number }) => number);
    index.enums.set(`.${prefix}${name}`, numbers);
  }
  for (const desc of messages) {
    index.messages.set(`${prefix}${desc.name}`, desc);
    indexTypes(desc.nestedType, desc.enumType, `${prefix}${desc.name}.`, index);
  }
}

function schemaOf(desc, rules, enums) {
  const oneofs = desc.oneofDecl.flatMap((oneof, index) => {
    const isRequired =
      oneof.options && hasExtension(oneof.options, rules.oneof) && getExtension(oneof.options, rules.oneof);
    const members = desc.field.filter((field) => isMember(field) && field.oneofIndex === index);
    return isRequired ? [[oneof.name, members.map((field) => field.number)]] : [];
  });
  return {
    fields: Object.fromEntries(desc.field.map((field) => [field.number, fieldOf(field, rules, enums)])),
    ...(oneofs.length > 0 && { oneofs }),
  };
}

const isMember = (field) => Object.hasOwn(field, 'oneofIndex');

function fieldOf(field, rules, enums) {
  const type = TYPES[field.type];
  const of = rulesOf(field, rules);
  return {
    name: field.name,
    type,
    ...(type === 'message' && { message: field.typeName.slice(1) }),
    ...(type === 'enum' && of?.definedOnly && { values: enums.get(field.typeName) }),
    ...(type === 'enum' && of?.items?.definedOnly && { values: enums.get(field.typeName) }),
    ...(field.label === REPEATED && { repeated: true }),
    ...(isMember(field) && { optional: true }),
    ...(of && { rules: of }),
  };
}

/** The rules of a field in one level: `{ string: { minLen: 1 } }` is `{ minLen: 1 }`. */
function rulesOf(field, { registry, field: extension }) {
  if (!field.options || !hasExtension(field.options, extension)) return undefined;
  const rules = flat(toJson(extension.message, getExtension(field.options, extension), { registry }));
  return Object.keys(rules).length > 0 ? rules : undefined;
}

function flat(json) {
  const rules = Object.assign({}, ...Object.values(json));
  if (rules.minPairs) [rules.minItems, rules.minPairs] = [rules.minPairs, undefined];
  for (const [key, value] of Object.entries(rules)) {
    if (key === 'items' || key === 'keys') rules[key] = flat(value);
    else if (
      ['gt', 'gte', 'lt', 'lte', 'minLen', 'maxLen', 'maxBytes', 'minItems', 'maxItems'].includes(key) &&
      value !== undefined
    )
      rules[key] = Number(String(value).replace(/s$/, ''));
    else if (!KNOWN.includes(key) && value !== undefined) throw new Error(`the rule ${key} is not known`);
  }
  return rules;
}

const KNOWN = [
  'required',
  'const',
  'pattern',
  'in',
  'notIn',
  'definedOnly',
  'ignoreEmpty',
  'wellKnownRegex',
  'strict',
  'unique',
];
