/** Makes a set of proto descriptors small: what the wanted types need, without deprecated fields and fields of unwanted types. */

const MESSAGE = 11;
const ENUM = 14;

/**
 * Changes `set` (a FileDescriptorSet message). `wanted` and `unwanted` are names of types, or of packages ending in `.`; wanted
 * packages stay whole. What a type has in fields stays too; a field of an unwanted type goes, and so do Envoy's deprecated ones that are not in `kept` (full names).
 */
export function pruneDescriptors(set, { wanted, unwanted, kept }) {
  const types = new Map();
  for (const file of set.file) indexTypes(file, { file, name: `.${file.package}` }, types);
  const matches = (patterns, name) =>
    patterns.some((one) => (one.endsWith('.') ? name.startsWith(`.${one}`) : name === `.${one}`));
  const keep = new Set();
  const visit = (name) => {
    if (keep.has(name)) return;
    const type = types.get(name);
    if (!type) throw new Error(`${name}: no such type`);
    keep.add(name);
    if (type.desc.method)
      for (const { inputType, outputType } of type.desc.method) [inputType, outputType].forEach(visit);
    if (!type.desc.field) return;
    type.desc.field = type.desc.field.filter((field) => {
      const typed = field.type === MESSAGE || field.type === ENUM;
      const outdated = isEnvoys(name) && field.options?.deprecated && !kept.includes(`${name.slice(1)}.${field.name}`);
      return !outdated && !(typed && matches(unwanted, field.typeName));
    });
    dropEmptyOneofs(type.desc);
    for (const field of type.desc.field) if (field.typeName) visit(field.typeName);
  };
  for (const [name] of types) if (matches(wanted, name)) visit(name);
  for (const name of [...keep]) keepAround(name, types, keep);
  for (const file of set.file) {
    const of = (name) => keep.has(`.${file.package}.${name}`);
    file.messageType = file.messageType.filter(({ name }) => of(name));
    file.messageType.forEach((message) => dropNested(message, `.${file.package}.${message.name}`, keep));
    file.enumType = file.enumType.filter(({ name }) => of(name));
    file.service = file.service.filter(({ name }) => of(name));
  }
  dropFiles(set, types, keep);
}

/** All messages, enums and services by their full names, with the file and the message around them. */
function indexTypes(scope, around, types) {
  const messages = scope.messageType ?? scope.nestedType;
  const outer = scope.messageType ? undefined : around.name;
  for (const desc of [...messages, ...scope.enumType, ...(scope.service ?? [])]) {
    const name = `${around.name}.${desc.name}`;
    types.set(name, { desc, file: around.file, outer });
    if (desc.nestedType) indexTypes(desc, { file: around.file, name }, types);
  }
}

/** A message around a kept type stays for its name alone, without fields, unless it is wanted too. */
function keepAround(name, types, keep) {
  const { outer } = types.get(name);
  if (!outer || keep.has(outer)) return;
  const { desc } = types.get(outer);
  [desc.field, desc.oneofDecl] = [[], []];
  keep.add(outer);
  keepAround(outer, types, keep);
}

const isEnvoys = (name) => name.startsWith('.envoy.');

const isOwn = (file) => !/^(envoy|xds|udpa|google|validate)\//.test(file.name);

function dropNested(message, name, keep) {
  message.nestedType = message.nestedType.filter((nested) => keep.has(`${name}.${nested.name}`));
  message.enumType = message.enumType.filter((nested) => keep.has(`${name}.${nested.name}`));
  message.nestedType.forEach((nested) => dropNested(nested, `${name}.${nested.name}`, keep));
}

/** A oneof whose last member went is no oneof; the others' numbers move up. */
function dropEmptyOneofs(message) {
  const isMember = (field) => Object.hasOwn(field, 'oneofIndex');
  const used = new Set(message.field.filter(isMember).map((field) => field.oneofIndex));
  const left = message.oneofDecl.map((oneof, index) => ({ oneof, index })).filter(({ index }) => used.has(index));
  for (const field of message.field.filter(isMember))
    field.oneofIndex = left.findIndex(({ index }) => index === field.oneofIndex);
  message.oneofDecl = left.map(({ oneof }) => oneof);
}

/** Files without a type go, and imports of files that went or are not needed. */
function dropFiles(set, types, keep) {
  const files = new Set([...keep].map((name) => types.get(name).file));
  set.file = set.file.filter((file) => files.has(file) || file.extension.length > 0);
  const names = new Set(set.file.map((file) => file.name));
  for (const file of set.file) {
    // Its places are indexes of what has been pruned.
    if (!isOwn(file)) delete file.sourceCodeInfo;
    file.dependency = file.dependency.filter((name) => names.has(name));
    file.publicDependency = [];
    file.weakDependency = [];
  }
}

/** Removes annotations (custom options), their definitions and the files that hold nothing else. */
export function dropOptions(set) {
  for (const file of set.file) {
    file.extension = [];
    if (file.options) delete file.options.$unknown;
    for (const part of [...file.messageType, ...file.enumType, ...file.service]) dropOptionsOf(part);
  }
  set.file = set.file.filter((file) => file.messageType.length + file.enumType.length + file.service.length > 0);
  const names = new Set(set.file.map((file) => file.name));
  for (const file of set.file) file.dependency = file.dependency.filter((name) => names.has(name));
}

function dropOptionsOf(part) {
  if (part.options) delete part.options.$unknown;
  for (const key of ['field', 'nestedType', 'enumType', 'oneofDecl', 'value', 'method'])
    part[key]?.forEach(dropOptionsOf);
}
