import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isJsonObject, type JsonObject } from '@causeway/resources';
import { UsageError } from '../context';

/** The connection to one control plane, under a user's name for it. */
export interface NamedContext {
  readonly server?: string;
  readonly token?: string;
  /** A file with the token, read at each use. */
  readonly tokenFile?: string;
  readonly caFile?: string;
  readonly insecureSkipTlsVerify?: boolean;
  /** The mesh of commands without `--mesh`. */
  readonly mesh?: string;
}

/** The contexts of a user. */
export interface Contexts {
  readonly currentContext?: string;
  readonly contexts: Readonly<Record<string, NamedContext>>;
}

const TEXTS = ['server', 'token', 'tokenFile', 'caFile', 'mesh'] as const;
/** Maximum size of the file, bytes. */
const MAX_BYTES = 1024 * 1024;

/** Reads the contexts; a missing file has none. Throws UsageError if the file is malformed, or if it contains a token and others may read it. */
export function readContexts(file: string): Contexts {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) return { contexts: {} };
  if (found.size > MAX_BYTES)
    throw new UsageError(`${file}: is larger than ${MAX_BYTES} bytes; is it the file of contexts?`);
  const contexts = decode(file, readFileSync(file, 'utf8'));
  const secret = Object.values(contexts.contexts).some(({ token }) => token !== undefined);
  if (secret && process.platform !== 'win32' && (found.mode & 0o077) !== 0)
    throw new UsageError(`${file}: holds tokens and others may read it: chmod 600 ${file}`);
  return contexts;
}

/** Replaces the file atomically, readable by its owner only. */
export function writeContexts(file: string, contexts: Contexts): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const next = `${file}.${process.pid}.tmp`;
  writeFileSync(next, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600 });
  chmodSync(next, 0o600);
  renameSync(next, file);
}

function decode(file: string, text: string): Contexts {
  const fail = (what: string): never => {
    throw new UsageError(
      `${file}: ${what}; mend it, or move it away and begin with: causeway config set-context NAME --server URL`,
    );
  };
  const value = parse(text);
  if (!isJsonObject(value)) return fail('is not a JSON object');
  const { currentContext, contexts = {} } = value;
  if (currentContext !== undefined && typeof currentContext !== 'string')
    return fail('currentContext: must be a string');
  if (!isJsonObject(contexts)) return fail('contexts: must be an object');
  const decoded = Object.entries(contexts).map(([name, context]): [string, NamedContext] => {
    if (!isJsonObject(context)) return fail(`contexts.${name}: must be an object`);
    const problem = findProblem(context);
    return problem === undefined ? [name, namedContext(context)] : fail(`contexts.${name}.${problem}`);
  });
  return { ...(currentContext === undefined ? {} : { currentContext }), contexts: Object.fromEntries(decoded) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function findProblem(context: JsonObject): string | undefined {
  for (const [key, value] of Object.entries(context)) {
    if (key === 'insecureSkipTlsVerify') {
      if (typeof value !== 'boolean') return `${key}: must be true or false`;
    } else if (!TEXTS.some((text) => text === key)) return `${key}: is not a known field`;
    else if (typeof value !== 'string') return `${key}: must be a string`;
  }
  return undefined;
}

function namedContext(context: JsonObject): NamedContext {
  const texts = TEXTS.flatMap((key) => {
    const value = context[key];
    return typeof value === 'string' ? [[key, value] as const] : [];
  });
  const insecure = context['insecureSkipTlsVerify'] === true ? { insecureSkipTlsVerify: true } : {};
  return { ...Object.fromEntries(texts), ...insecure };
}
