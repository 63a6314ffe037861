import { ApiError, connectApi, ConnectionError, type ApiClient, type ConnectionProblem } from '@causeway/api-client';
import { coreKinds } from '@causeway/kinds';
import { Registry } from '@causeway/resources';
import { UsageError, type CommandContext, type ProgramContext } from './context';
import { DeclaredKinds } from './declared-kinds';
import { DocumentError } from './documents';
import { resolveConnection } from './settings/connection';

/** Creates the context of commands that call a control plane. Connects once, on the first call. */
export function createCommandContext(context: ProgramContext): CommandContext {
  const clients = new Map<string, Promise<ApiClient>>();
  const declared = new DeclaredKinds();
  const registry = new Registry(coreKinds.kinds, declared);
  const api: CommandContext['api'] = (other) => {
    const flags = other ?? context.flags();
    const key = JSON.stringify(flags);
    const client = clients.get(key) ?? connectTo(context, flags);
    clients.set(key, client);
    return client;
  };
  const learnKinds: CommandContext['learnKinds'] = (nouns, from = api) => declared.learn(registry, nouns, from);
  const close = async (): Promise<void> => {
    for (const client of await Promise.allSettled(clients.values()))
      if (client.status === 'fulfilled') client.value.close();
  };
  return { ...context, registry, api, learnKinds, close };
}

async function connectTo(context: ProgramContext, flags: ReturnType<ProgramContext['flags']>): Promise<ApiClient> {
  return connectApi({ ...resolveConnection(context.config, flags), signal: context.signal });
}

/** Prints the reason of a failure, and returns its exit code. Rethrows bugs. */
export function reportFailure(context: ProgramContext, error: unknown): number {
  if (context.signal.aborted) return INTERRUPTED;
  if (error instanceof UsageError || error instanceof DocumentError) {
    context.printError(error.message);
    return 2;
  }
  if (!(error instanceof ApiError)) throw error;
  context.printError(formatApiError(error));
  for (const { field, reason } of error.violations) context.printError(`  ${field}: ${reason}`);
  if (error.code === 'unauthenticated')
    context.printError(
      '  a token comes from --token, CAUSEWAY_TOKEN or a context: causeway config set-context --token -',
    );
  return 1;
}

/** Exit code after Ctrl-C: 128 and the number of the signal, as in shells. */
const INTERRUPTED = 130;

/** Formats an error in one line, with the time of the next try, in this program's terms: its flags replace the API's parameters. */
export function formatApiError(error: ApiError): string {
  if (error instanceof ConnectionError) {
    return `${error.server.href.replace(/\/$/, '')} ${ADVICE[error.problem]}`.replace(
      /^(\S+) cannot be reached/,
      'cannot reach $1',
    );
  }
  if (error.code === 'rest-only') return `${error.message} (--server, --context or CAUSEWAY_SERVER)`;
  const wait = error.retryAfter === undefined ? '' : `; try again in ${Math.ceil(error.retryAfter / 1_000)}s`;
  return inFlags([error.title, error.message].filter((part) => part !== '').join(': ')) + wait;
}

const ADVICE: Readonly<Record<ConnectionProblem, string>> = {
  'not-allowed': 'may not be opened by this account: only the account that the control plane runs as may, and root',
  'unknown-authority':
    'shows a certificate of an unknown authority: name its authority with --ca-file FILE (or CAUSEWAY_CA_FILE)',
  'other-name': 'shows a certificate for another name: use a name or an address that the certificate has',
  'not-valid-now': 'shows a certificate that is not valid now: renew the certificate, or set the clock right',
  'no-tls': 'does not speak TLS: use http:// or grpc:// in its address',
  'not-http': 'does not answer in HTTP: does it need https:// or grpc:// in its address?',
  'ended-early':
    'ended the connection before it answered: was it restarted meanwhile, or does its address need https:// or grpc://? What was sent may be done: look before you send it again',
  unreachable:
    'cannot be reached: is the control plane running? (--server, --context or CAUSEWAY_SERVER names another)',
};

/** Replaces parameters of the API in a message by the flags of this program: `zone=east` becomes `-z east`. */
export function inFlags(message: string): string {
  return message
    .replaceAll(/\bzone= \(the global\)/g, '-z global')
    .replaceAll(/\bzone=([a-z0-9][a-z0-9.-]*)/g, '-z $1')
    .replaceAll(/&namespace=([a-z0-9][a-z0-9.-]*)/g, ' -n $1');
}
