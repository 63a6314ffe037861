import { resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { UsageError, type ProgramContext } from '../context';
import { outputOption, type SetExitCode } from '../options';
import { structured, table, type Output } from '../render';
import { contextInUse, parseServer, readToken } from '../settings/connection';
import { readContexts, writeContexts, type Contexts, type NamedContext } from '../settings/contexts-file';
import { describeToken } from '../settings/token-claims';

/** Text in place of a hidden token. */
const REDACTED = '*****';

/** `causeway config get-contexts`: lists the contexts and marks the one in use. */
function listContexts(context: ProgramContext, { output }: { readonly output: Output }): number {
  const { contexts, currentContext } = readContexts(context.config.contextsFile);
  const all = Object.entries(contexts).sort(([a], [b]) => (a < b ? -1 : 1));
  if (output !== 'table') {
    context.print(structured({ items: all.map(([name, each]) => ({ name, ...redacted(each) })) }, output));
    return 0;
  }
  if (all.length === 0) context.printError('no contexts; to make one: causeway config set-context NAME --server URL');
  else {
    const used = context.flags().context ?? context.config.context ?? currentContext;
    const rows = all.map(([name, each]) => [
      name === used ? '*' : '',
      name,
      each.server ?? '',
      each.mesh ?? '',
      describeToken(tokenIfReadable(each), context.now()),
    ]);
    context.print(table(['CURRENT', 'NAME', 'SERVER', 'MESH', 'TOKEN'], rows));
  }
  return 0;
}

function tokenIfReadable(context: NamedContext): string | undefined {
  try {
    return readToken(context);
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

/** `causeway config current-context`: the name of the context in use; exit code 1 if there is none. */
function currentContext(context: ProgramContext): number {
  const used = contextInUse(context.config, context.flags().context);
  if (used) context.print(used.name);
  else context.printError('no context is in use; to use one: causeway config use-context NAME');
  return used ? 0 : 1;
}

/** `causeway config use-context NAME`. */
function useContext(context: ProgramContext, name: string): number {
  const file = context.config.contextsFile;
  const contexts = readContexts(file);
  contextNamed(contexts, name);
  writeContexts(file, { ...contexts, currentContext: name });
  context.print(`context ${name} is in use`);
  return 0;
}

interface SetContextOptions {
  readonly tokenFile?: string;
  readonly mesh?: string;
  readonly current?: boolean;
}

/** `causeway config set-context NAME`: creates a context, or changes the fields given by flags. The first one becomes the one in use. */
async function setContext(context: ProgramContext, name: string, options: SetContextOptions): Promise<number> {
  const file = context.config.contextsFile;
  if (!/^[A-Za-z0-9][A-Za-z0-9._@:-]{0,127}$/.test(name))
    throw new UsageError(`"${name}" is no name of a context: letters, digits and ._@:- only, at most 128`);
  const known = readContexts(file);
  const before: NamedContext = known.contexts[name] ?? {};
  const changes = await readChanges(context, options);
  const after = { ...without(before, changes), ...changes };
  if (after.server === undefined) throw new UsageError(`context ${name} needs the address of its server: --server URL`);
  const current = options.current ? name : (known.currentContext ?? name);
  writeContexts(file, { currentContext: current, contexts: { ...known.contexts, [name]: after } });
  context.print(
    `context ${name} ${name in known.contexts ? 'changed' : 'created'}${current === name ? ', and in use' : ''}`,
  );
  return 0;
}

async function readChanges(context: ProgramContext, { tokenFile, mesh }: SetContextOptions): Promise<NamedContext> {
  const { server, token, caFile, insecureSkipTlsVerify } = context.flags();
  if (server !== undefined && !parseServer(server))
    throw new UsageError(`"${server}" is no address of a server; write it like http://127.0.0.1:5681`);
  if (token !== undefined && tokenFile !== undefined)
    throw new UsageError('a context has --token or --token-file, not both');
  return {
    ...(server === undefined ? {} : { server }),
    ...(token === undefined ? {} : { token: token === '-' ? (await context.stdin()).trim() : token }),
    ...(tokenFile === undefined ? {} : { tokenFile: resolve(tokenFile) }),
    ...(caFile === undefined ? {} : { caFile: resolve(caFile) }),
    ...(insecureSkipTlsVerify === undefined ? {} : { insecureSkipTlsVerify }),
    ...(mesh === undefined ? {} : { mesh }),
  };
}

/** Returns a context without the token that a new one replaces. */
function without({ token, tokenFile, ...rest }: NamedContext, changes: NamedContext): NamedContext {
  if (changes.token !== undefined || changes.tokenFile !== undefined) return rest;
  return { ...rest, ...(token === undefined ? {} : { token }), ...(tokenFile === undefined ? {} : { tokenFile }) };
}

/** `causeway config delete-context NAME`. */
function deleteContext(context: ProgramContext, name: string): number {
  const file = context.config.contextsFile;
  const known = readContexts(file);
  contextNamed(known, name);
  const contexts = Object.fromEntries(Object.entries(known.contexts).filter(([each]) => each !== name));
  const { currentContext: current } = known;
  writeContexts(file, { ...(current === undefined || current === name ? {} : { currentContext: current }), contexts });
  context.print(`context ${name} deleted`);
  if (current === name) context.printError('no context is in use now; to use one: causeway config use-context NAME');
  return 0;
}

/** `causeway config view`: the file of contexts; tokens only with `--raw`. */
function viewContexts(
  context: ProgramContext,
  { output, raw }: { readonly output: 'yaml' | 'json'; readonly raw?: boolean },
): number {
  const known = readContexts(context.config.contextsFile);
  const shown = Object.entries(known.contexts).map(([name, each]) => [name, raw ? each : redacted(each)] as const);
  context.print(structured({ ...known, contexts: Object.fromEntries(shown) }, output));
  return 0;
}

function redacted(context: NamedContext): NamedContext {
  return context.token === undefined ? context : { ...context, token: REDACTED };
}

function contextNamed({ contexts }: Contexts, name: string): NamedContext {
  const found = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (found) return found;
  throw new UsageError(`no context "${name}"; there are: ${Object.keys(contexts).sort().join(', ') || 'none'}`);
}

/** `causeway config`: names for control planes and their connections, in a file of the user. */
export function registerConfig(program: Command, context: ProgramContext, finish: SetExitCode): void {
  const config = program
    .command('config')
    .description('contexts: control planes by name, with their tokens and certificates');
  config
    .command('get-contexts')
    .description('lists the contexts, the one in use marked')
    .addOption(outputOption())
    .action((options: { readonly output: Output }) => finish(listContexts(context, options)));
  config
    .command('current-context')
    .description('shows the name of the context in use')
    .action(() => finish(currentContext(context)));
  config
    .command('use-context')
    .description('uses a context from now on')
    .argument('<name>')
    .action((name: string) => finish(useContext(context, name)));
  config
    .command('set-context')
    .description('makes or changes a context: --server, --token (- reads it), --ca-file, --insecure-skip-tls-verify')
    .argument('<name>')
    .option('--token-file <file>', 'a file with the token, read at each use')
    .option('-m, --mesh <mesh>', 'the mesh of commands without --mesh')
    .option('--current', 'use it from now on')
    .action(async (name: string, options: SetContextOptions) => finish(await setContext(context, name, options)));
  config
    .command('delete-context')
    .description('deletes a context')
    .argument('<name>')
    .action((name: string) => finish(deleteContext(context, name)));
  config
    .command('view')
    .description('shows all contexts, without their tokens')
    .addOption(new Option('-o, --output <form>', 'form of the output').choices(['yaml', 'json']).default('yaml'))
    .option('--raw', 'with their tokens')
    .action((options: { readonly output: 'yaml' | 'json'; readonly raw?: boolean }) =>
      finish(viewContexts(context, options)),
    );
}
