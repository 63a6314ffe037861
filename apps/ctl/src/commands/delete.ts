import { isJsonObject } from '@causeway/resources';
import { ApiError } from '../api-client';
import { kindOf, pathOf, type CommandContext } from '../context';
import type { Command } from 'commander';
import { meshOption, nouns, type SetExitCode } from '../options';

export interface DeleteOptions {
  readonly mesh: string;
  readonly namespace?: string;
  readonly dryRun?: boolean;
}

/** `causeway delete NOUN NAME...`: tries every name; the exit code is 0 if all were deleted. */
export async function remove(
  context: CommandContext,
  noun: string,
  names: readonly string[],
  options: DeleteOptions,
): Promise<number> {
  const kind = kindOf(context.registry, noun);
  const query = { namespace: options.namespace, ...(options.dryRun ? { dryRun: 'true' } : {}) };
  let failures = 0;
  for (const name of names) {
    try {
      const { body } = await context.api().send({ method: 'DELETE', path: pathOf(kind, options.mesh, name), query });
      context.print(`${kind.name} ${name} deleted${options.dryRun ? ' (dry run)' : ''}`);
      printWarnings(context, body);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 0) throw error;
      failures++;
      const reasons = error.violations.map(({ field, reason }) => `${field}: ${reason}`);
      context.printError(`${kind.name} ${name}: ${[error.message, ...reasons].join('; ')}`);
    }
  }
  return failures === 0 ? 0 : 1;
}

/** Prints the warnings in the server's answer to a write. */
export function printWarnings(context: CommandContext, body: unknown): void {
  const warnings = isJsonObject(body) ? body['warnings'] : undefined;
  if (Array.isArray(warnings)) for (const warning of warnings) context.printError(`  warning: ${String(warning)}`);
}

/** `causeway delete`. */
export function registerDelete(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('delete')
    .description('deletes resources by name')
    .argument('<kind>', nouns(context))
    .argument('<names...>')
    .addOption(meshOption())
    .option('-n, --namespace <namespace>')
    .option('--dry-run', 'check everything, delete nothing')
    .action(async (kind: string, names: string[], options: DeleteOptions) =>
      finish(await remove(context, kind, names, options)),
    );
}
