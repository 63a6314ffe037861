import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Connection } from '@causeway/api-client';
import type { CliConfig, ConnectionFlags } from '../config';
import { UsageError } from '../context';
import { readContexts, type NamedContext } from './contexts-file';

/** A context and its name. */
interface ContextInUse {
  readonly name: string;
  readonly context: NamedContext;
}

/** The default address: the REST port of a control plane on this host. */
const DEFAULT_SERVER = 'http://127.0.0.1:5681';

/**
 * Parses the address of a server as users type it: the default scheme is `http://`, a path is kept, and `unix:` precedes the absolute path of a
 * socket. Undefined if it is an address of neither REST nor gRPC.
 */
export function parseServer(text: string): URL | undefined {
  if (/^unix:/i.test(text)) return socketUrl(text.slice('unix:'.length).replace(/^\/\/(?=\/)/, ''));
  const given = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const usable =
    url &&
    /^(https?|grpcs?):$/.test(url.protocol) &&
    url.host !== '' &&
    `${url.username}${url.search}${url.hash}` === '';
  return usable ? url : undefined;
}

function socketUrl(path: string): URL | undefined {
  return isAbsolute(path) ? new URL(`unix:${pathToFileURL(path).pathname}`) : undefined;
}

/**
 * Returns the context that a command uses: of the flag, else of the environment, else the current one. Undefined if there is none. Throws UsageError
 * for an unknown name.
 */
export function contextInUse(config: CliConfig, flag: string | undefined): ContextInUse | undefined {
  const { contexts, currentContext } = readContexts(config.contextsFile);
  const name = flag ?? config.context ?? currentContext;
  if (name === undefined) return undefined;
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (context) return { name, context };
  const known = Object.keys(contexts).sort();
  const those =
    known.length === 0 ? 'there is none yet: causeway config set-context' : `there are: ${known.join(', ')}`;
  throw new UsageError(`no context "${name}"; ${those}`);
}

/**
 * Resolves the connection of a command. Each part comes from the flag, else the environment, else the context. A context in a flag has precedence
 * over the environment. A server that is given without a context gets the token and the trust of the context for exactly this server, if there is
 * one, and nothing of another: a token is only sent to its own server.
 */
export function resolveConnection(config: CliConfig, flags: ConnectionFlags): Connection {
  const fromEnvironment =
    flags.context === undefined ? config : { server: undefined, token: undefined, caFile: undefined };
  const named = flags.server ?? fromEnvironment.server;
  const chosen = usedBy(config, flags);
  const given = named ?? chosen?.context.server ?? DEFAULT_SERVER;
  const server = parseServer(given);
  if (!server)
    throw new UsageError(`"${given}" is no address of a server; write it like http://127.0.0.1:5681 or unix:/PATH`);
  const hasToken = (flags.token ?? fromEnvironment.token) !== undefined;
  const used = chosen ?? (hasToken ? undefined : contextFor(config, server, flags));
  const token =
    flags.token ?? fromEnvironment.token ?? (used && readToken(used.context, chosen ? '' : `context ${used.name}: `));
  const caFile = flags.caFile ?? fromEnvironment.caFile ?? used?.context.caFile;
  return {
    server,
    ...(token === undefined ? {} : { token }),
    ...(caFile === undefined ? {} : { ca: readText(caFile) }),
    ...((flags.insecureSkipTlsVerify ?? used?.context.insecureSkipTlsVerify) ? { insecure: true } : {}),
  };
}

/**
 * Returns the context for a server that was given without one: among those with a token, else among all, the one in use, else the only one. Undefined
 * if there is none. Throws UsageError if several have tokens.
 */
function contextFor(config: CliConfig, server: URL, flags: ConnectionFlags): ContextInUse | undefined {
  const { contexts, currentContext } = readContexts(config.contextsFile);
  const found = Object.entries(contexts).flatMap(([name, context]): readonly ContextInUse[] =>
    parseServer(context.server ?? '')?.href === server.href ? [{ name, context }] : [],
  );
  const withToken = found.filter(({ context: { token, tokenFile } }) => (token ?? tokenFile) !== undefined);
  const candidates = withToken.length > 0 ? withToken : found;
  const inUse = candidates.find(({ name }) => name === (flags.context ?? config.context ?? currentContext));
  if (inUse || withToken.length < 2) return inUse ?? candidates[0];
  const names = withToken.map(({ name }) => name).sort();
  throw new UsageError(`the contexts ${names.join(', ')} are for ${server.href}: choose one with --context`);
}

/** Returns the context from which a command takes its server; undefined if flags or environment set the server. */
function usedBy(config: CliConfig, flags: ConnectionFlags): ContextInUse | undefined {
  const named = flags.server ?? (flags.context === undefined ? config.server : undefined);
  return named === undefined ? contextInUse(config, flags.context) : undefined;
}

/** Returns the mesh of commands without `--mesh`, if the context in use has one. */
export function resolveMesh(config: CliConfig, flags: ConnectionFlags): string | undefined {
  return usedBy(config, flags)?.context.mesh;
}

/** Returns the token of a context, inline or from its file. Throws UsageError, prefixed with `where`, if that cannot be read. */
export function readToken({ token, tokenFile }: NamedContext, where = ''): string | undefined {
  return token ?? (tokenFile === undefined ? undefined : readText(tokenFile, where).trim());
}

function readText(file: string, where = ''): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw new UsageError(`${where}${file}: cannot be read (${reason})`, { cause });
  }
}
