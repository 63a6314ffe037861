import { Option, type Command } from 'commander';
import { version } from '../../../../../package.json';
import type { ProgramContext } from '../../context';
import type { SetExitCode } from '../../options';

interface VersionOptions {
  readonly client?: boolean;
  readonly output: 'table' | 'yaml' | 'json';
}

/** `causeway version`: of this program and, unless `--client`, of the control plane and those that it knows. */
export function registerVersion(program: Command, context: ProgramContext, finish: SetExitCode): void {
  const forms = ['table', 'yaml', 'json'];
  program
    .command('version')
    .description('shows the version of this program and of its servers')
    .option('--client', 'only of this program, without asking a server')
    .addOption(new Option('-o, --output <form>', 'form of the output').choices(forms).default('table'))
    .action(async ({ client = false, output }: VersionOptions) => {
      if (client && output === 'table') context.print(`causeway ${version}`);
      else finish(await (await import('./server-versions.js')).showVersions(context, { version, client, output }));
    });
}
