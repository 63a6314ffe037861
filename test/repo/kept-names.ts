import { basename } from 'node:path';
import ts from 'typescript';
import { parse } from 'yaml';

/** Lists of names that users, peers and operators depend on, by their kind. */
export type KeptNames = Readonly<Record<string, readonly string[]>>;

/** Text files of one state of the repository. */
export interface SourceTree {
  readonly paths: readonly string[];
  readonly read: (path: string) => string;
}

const LOG_LEVELS = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal']);
const WORD_OF_A_CONDITION = /^[A-Z][a-z]+([A-Z]+[a-z0-9]*)*$/;
const STATE_FILE = /^\.?[\w-]+(\.[\w-]+)*\.(json|ya?ml|pem|key|sock|lock|token|txt|conf|nft)$/;
const FLAG = /^(-\w, )?--[a-z][\w-]*/;
const CLI_CALLS = new Set(['command', 'alias', 'aliases', 'argument']);

/** Reads, from the files of a tree alone, every name that must not be renamed. */
export function readKeptNames(tree: SourceTree): KeptNames {
  const code = readCode(tree);
  return sorted({
    kinds: headings(tree.read('docs/reference/kinds.md')),
    'fields of kinds': fieldsOfKinds(tree.read('docs/reference/kinds.md')),
    'words of OpenAPI': wordsOfOpenApi(tree.read('test/rest/testdata/openapi.golden.yaml')),
    'words of conditions': code.words,
    metrics: codeCells(tree.read('docs/reference/metrics.md'), /^\| `(causeway_\w+)` \|/),
    'labels of metrics': codeCells(tree.read('docs/reference/metrics.md'), /^\| `(?!causeway_)([a-z_]+)` \|/),
    alerts: matches(tree.read('deploy/prometheus/alerts.yaml'), /- alert: (\w+)/g),
    variables: codeCells(tree.read('docs/reference/settings.md'), /^\| `([A-Z][A-Z_]+)` \|/),
    settings: ['global', 'zone'].flatMap((program) =>
      propertiesOf(parse(tree.read(`deploy/schemas/${program}.schema.json`)), program),
    ),
    'keys of agent.yaml': codeCells(fieldsTable(tree.read('docs/reference/agent.md')), /^\| `([\w.[\]]+)` \|/),
    'commands and flags': code.commands,
    'fields of proto': tree.paths
      .filter((path) => path.endsWith('.proto'))
      .flatMap((path) => fieldsOfProto(tree.read(path))),
    'names of SQL': namesOfSql(tree.read('migrations/schema.sql')),
    'state files': code.files,
    'keys of logs': code.logKeys,
  });
}

function sorted(names: Readonly<Record<string, Iterable<string>>>): KeptNames {
  return Object.fromEntries(Object.entries(names).map(([what, list]) => [what, [...new Set(list)].sort()]));
}

function matches(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, name = '']) => name);
}

const headings = (page: string): readonly string[] => matches(page, /^## (\w+)$/gm);

function codeCells(page: string, pattern: RegExp): readonly string[] {
  return page.split('\n').flatMap((line) => pattern.exec(line)?.[1] ?? []);
}

const fieldsTable = (page: string): string => /<!-- fields -->([^]*?)<!-- /.exec(page)?.[1] ?? '';

function fieldsOfKinds(page: string): readonly string[] {
  const sections = page.split(/^## /m).slice(1);
  return sections.flatMap((section) => {
    const kind = /^\w+/.exec(section)?.[0] ?? '';
    return codeCells(section, /^\| `([^`]+)` \|/).map((field) => `${kind} ${field}`);
  });
}

/** Returns paths, names of schemas and properties, parameters and values of enums. */
function wordsOfOpenApi(text: string): readonly string[] {
  const words: string[] = [];
  const walk = (node: unknown, parent: string): void => {
    if (Array.isArray(node)) {
      for (const item of node) if (parent === 'enum') words.push(`value ${String(item)}`);
      for (const item of node) walk(item, '');
      return;
    }
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (['properties', 'paths', 'schemas', 'parameters', 'responses'].includes(parent))
        words.push(`${parent} ${key}`);
      if (key === 'operationId' || (key === 'name' && 'in' in node)) words.push(`${key} ${String(value)}`);
      walk(value, key);
    }
  };
  walk(parse(text), '');
  return words;
}

function propertiesOf(schema: unknown, path: string): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => {
    if (key !== 'properties' || typeof value !== 'object' || value === null) return propertiesOf(value, path);
    return Object.entries(value).flatMap(([name, inner]) => [
      `${path}.${name}`,
      ...propertiesOf(inner, `${path}.${name}`),
    ]);
  });
}

/** Returns package.Message.field with type and number, and methods of services. */
function fieldsOfProto(text: string): readonly string[] {
  const path = [/^package ([\w.]+);/m.exec(text)?.[1] ?? ''];
  const names: string[] = [];
  for (const line of text.replace(/\/\/.*$/gm, '').split('\n')) {
    const opened = /^\s*(?:message|enum|service|oneof)\s+(\w+)\s*\{/.exec(line)?.[1];
    const field = /^\s*((?:optional |repeated )?[\w.<>, ]+?)\s+(\w+)\s*=\s*(\d+)/.exec(line);
    const value = /^\s*([A-Z]\w+)\s*=\s*(\d+)/.exec(line);
    const method = /^\s*rpc\s+(\w+)/.exec(line)?.[1];
    if (opened !== undefined) names.push([...path, opened].join('.'));
    if (method !== undefined) names.push(`${path.join('.')}/${method}`);
    else if (value) names.push(`${path.join('.')}.${value[1]} = ${value[2]}`);
    else if (field && field[1] !== 'option') names.push(`${path.join('.')}.${field[2]} ${field[1]} = ${field[3]}`);
    for (const brace of line.match(/[{}]/g) ?? []) {
      if (brace === '{') path.push(opened ?? '{');
      else path.pop();
    }
  }
  return names.map((name) => name.replaceAll('.{', ''));
}

/** Returns tables with their columns, and indexes, functions and other named things. */
function namesOfSql(text: string): readonly string[] {
  let table = '';
  return text.split('\n').flatMap((line) => {
    const made = /^CREATE (?:OR REPLACE )?(?:UNIQUE )?(\w+) "?([\w.]+)"?/.exec(line);
    const column = /^ {2}"?([a-z_]\w*)"? /.exec(line)?.[1];
    const constraint = /CONSTRAINT "?(\w+)"?/.exec(line)?.[1];
    if (made) table = made[1] === 'TABLE' ? (made[2] ?? '') : '';
    return [
      ...(made ? [`${made[1]} ${made[2]}`] : []),
      ...(!made && table !== '' && column !== undefined ? [`${table}.${column}`] : []),
      ...(constraint === undefined ? [] : [`constraint ${constraint}`]),
    ];
  });
}

interface CodeNames {
  readonly words: Set<string>;
  readonly files: Set<string>;
  readonly commands: Set<string>;
  readonly logKeys: Set<string>;
}

/** Reads literals and keys of logs of what ships: words such as `BackendNotFound`, names of files, commands with their flags. */
function readCode(tree: SourceTree): CodeNames {
  const names: CodeNames = { words: new Set(), files: new Set(), commands: new Set(), logKeys: new Set() };
  const shipped = tree.paths.filter((path) => /^(apps|libs)\/[^/]+\/src\/.*(?<!\.spec)\.ts$/.test(path));
  for (const path of shipped.filter((file) => !/\/(gen|testdata|conformance)\//.test(file))) {
    const source = ts.createSourceFile(basename(path), tree.read(path), ts.ScriptTarget.Latest, true);
    readNode(source, path.split('/', 2).join('/'), names);
  }
  return names;
}

function readNode(node: ts.Node, where: string, names: CodeNames): void {
  if (ts.isStringLiteralLike(node)) readLiteral(node, where, names);
  if (ts.isCallExpression(node) && isLogCall(node)) {
    for (const argument of node.arguments) readLogKeys(argument, names.logKeys);
  }
  ts.forEachChild(node, (child) => readNode(child, where, names));
}

function readLiteral(node: ts.StringLiteralLike, where: string, { words, files, commands }: CodeNames): void {
  const { text, parent } = node;
  const called = ts.isCallExpression(parent) || ts.isNewExpression(parent) ? parent.expression : undefined;
  const callee = called && ts.isPropertyAccessExpression(called) ? called.name.text : called?.getText();
  if (callee !== 'Symbol' && WORD_OF_A_CONDITION.test(text)) words.add(text);
  if (STATE_FILE.test(text)) files.add(text);
  if (!where.startsWith('apps/')) return;
  if (FLAG.test(text)) commands.add(`${where} ${text}`);
  if (callee !== undefined && CLI_CALLS.has(callee)) commands.add(`${where} ${callee} ${text}`);
}

function isLogCall({ expression }: ts.CallExpression): boolean {
  if (!ts.isPropertyAccessExpression(expression) || !LOG_LEVELS.has(expression.name.text)) return false;
  return /log(ger)?\??$/i.test(expression.expression.getText());
}

/** Reads the keys of an object, also of those that it spreads under a condition. */
function readLogKeys(node: ts.Node, keys: Set<string>): void {
  if (ts.isObjectLiteralExpression(node)) {
    for (const property of node.properties)
      if (property.name) keys.add(property.name.getText().replaceAll(/['"]/g, ''));
  }
  if (ts.isCallExpression(node)) return;
  ts.forEachChild(node, (child) => readLogKeys(child, keys));
}
