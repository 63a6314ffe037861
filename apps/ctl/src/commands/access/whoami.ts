import { isJsonArray, isJsonObject } from '@causeway/resources';
import type { Command } from 'commander';
import type { CommandContext } from '../../context';
import { outputOption, type SetExitCode } from '../../options';
import { structured, textAt, type Output } from '../../render';
import { connectionOf } from '../../settings/connection';
import { describeToken } from '../../settings/token-claims';

/** `causeway auth whoami`: whom the control plane takes the caller for, and when the token ends. */
export async function whoami(context: CommandContext, { output }: { readonly output: Output }): Promise<number> {
  const { body } = await context.api().send({ method: 'GET', path: '/who-am-i' });
  if (!isJsonObject(body)) return 1;
  if (output !== 'table') {
    context.print(structured(body, output));
    return 0;
  }
  const groups = isJsonArray(body['groups']) ? body['groups'].filter((group) => typeof group === 'string') : [];
  const { token } = connectionOf(context.config, context.flags());
  context.print(`User    ${textAt(body, 'name')}`);
  context.print(`Groups  ${groups.length > 0 ? groups.join(', ') : 'none'}`);
  context.print(`Token   ${describeToken(token, context.now()) || 'none'}`);
  return 0;
}

/** `causeway auth`. */
export function registerAuth(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('auth')
    .description('who you are to the control plane')
    .command('whoami')
    .description('shows whom the control plane takes you for')
    .addOption(outputOption())
    .action(async (options: { readonly output: Output }) => finish(await whoami(context, options)));
}
