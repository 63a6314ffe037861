import { coreKinds } from '@causeway/kinds';
import { ApiClient, ApiError } from './api-client';
import { UsageError, type CommandContext, type ProgramContext } from './context';
import { DocumentError } from './documents';
import { connectionOf } from './settings/connection';

/** The context of commands that ask a control plane. */
export function createCommandContext(context: ProgramContext): CommandContext {
  return {
    ...context,
    registry: coreKinds,
    api: (other) => new ApiClient(connectionOf(context.config, other ?? context.flags()), context.signal),
  };
}

/** Prints why a command failed, and returns its exit code. Throws what is a bug. */
export function reportFailure(context: ProgramContext, error: unknown): number {
  if (context.signal.aborted) return INTERRUPTED;
  if (error instanceof UsageError || error instanceof DocumentError) {
    context.printError(error.message);
    return 2;
  }
  if (!(error instanceof ApiError)) throw error;
  if (error.violations.length === 0 || error.message !== '') context.printError(error.message);
  for (const { field, reason } of error.violations) context.printError(`  ${field}: ${reason}`);
  if (error.status === 401)
    context.printError(
      '  a token comes from --token, CAUSEWAY_TOKEN or a context: causeway config set-context --token -',
    );
  return 1;
}

/** Exit code of a command that Ctrl-C ended: 128 and the number of the signal, as shells say it. */
const INTERRUPTED = 130;
