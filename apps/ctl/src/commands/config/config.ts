import { Option, type Command } from 'commander';
import type { ProgramContext } from '../../context';
import { outputOption, type SetExitCode } from '../../options';
import type { Output } from '../../render';
import {
  currentContext,
  deleteContext,
  listContexts,
  setContext,
  useContext,
  viewContexts,
  type SetContextOptions,
} from './contexts';

/** `causeway config`: names for control planes and how they are reached, in a file of the user. */
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
