import type { JsonObject } from '@causeway/resources';
import type { Command } from 'commander';
import type { CommandContext } from '../../context';
import { outputOption, parseSeconds, type SetExitCode } from '../../options';
import { age, listAt, objectAt, structured, table, textAt, textsAt, type Output } from '../../render';

export interface AuthorityOptions {
  readonly output: Output;
}

export interface RotationOptions extends AuthorityOptions {
  readonly deadline?: string;
  readonly force?: boolean;
  readonly abandon?: boolean;
}

/** `causeway ca`: the certificate authority of a zone's workloads, and how a rotation of it stands. */
export async function showAuthority(context: CommandContext, { output }: AuthorityOptions): Promise<number> {
  print(context, await (await context.api()).rest.json({ path: '/_ca' }), output);
  return 0;
}

/** `causeway ca rotate`: begins a rotation, forces the step that waits, or gives it up; shows how it stands then. */
export async function rotateAuthority(context: CommandContext, options: RotationOptions): Promise<number> {
  const { deadline, force, abandon, output } = options;
  const body = {
    ...(deadline === undefined ? {} : { deadline: `${parseSeconds(deadline, '--deadline')}s` }),
    ...(force ? { force } : {}),
    ...(abandon ? { abandon } : {}),
  };
  const { rest } = await context.api();
  const status = await rest.json({ method: 'POST', path: '/_ca/rotation', body });
  print(context, status, output);
  if (textAt(status, 'order', 'type') !== '') context.printError('no leader has carried the order out yet');
  return 0;
}

function print(context: CommandContext, status: JsonObject, output: Output): void {
  if (output !== 'table') return context.print(structured(status, output));
  const now = context.now();
  context.print([...stepLines(status, now), '', authorityTable(status, now)].join('\n'));
}

const STEPS: Readonly<Record<string, string>> = {
  steady: 'steady: one authority signs and is trusted',
  trusting: 'trusting: the new authority is made known; the old one signs',
  retiring: 'retiring: the new authority signs; the old one is trusted until its last certificate has ended',
};

/** The lines about the step, one fact each. */
function stepLines(status: JsonObject, now: number): readonly string[] {
  const step = textAt(status, 'step');
  const time = (name: string): string => textAt(status, name);
  const missing = objectAt(status, 'missing');
  const names = textsAt(missing, 'items');
  const total = Number(textAt(missing, 'total'));
  const facts: readonly (readonly [string, string])[] = [
    ['Step', STEPS[step] ?? step],
    ['Since', time('since') && `${time('since')} (${age(time('since'), now)} ago)`],
    ['Deadline', time('deadline') && `${time('deadline')}: it is used then, whoever is missing`],
    ['Until', time('until')],
    ['Used by', time('usedBy')],
    ['Missing', total === 0 ? '' : `${total}`],
  ];
  const lines = facts.filter(([, value]) => value !== '').map(([name, value]) => `${name.padEnd(10)}${value}`);
  const more = total > names.length ? [`  and ${total - names.length} more`] : [];
  return [...lines, ...names.map((name) => `  ${name}`), ...more];
}

function authorityTable(status: JsonObject, now: number): string {
  const rows = listAt(status, 'authorities').map((one) => [
    textAt(one, 'id'),
    textAt(one, 'signs') === 'true' ? 'signs, trusted' : 'trusted',
    age(textAt(one, 'creationTime'), now),
    textAt(one, 'notAfter'),
    textAt(one, 'sha256'),
  ]);
  return table(['AUTHORITY', 'USE', 'AGE', 'ENDS', 'SHA-256'], rows);
}

/** `causeway ca` and `causeway ca rotate`. */
export function registerAuthority(program: Command, context: CommandContext, finish: SetExitCode): void {
  const ca = program
    .command('ca')
    .description("shows the certificate authority of a zone's workloads, and how a rotation of it stands")
    .addOption(outputOption())
    .action(async (options: AuthorityOptions) => finish(await showAuthority(context, options)));
  ca.command('rotate')
    .description('replaces the authority in steps: the new one is trusted, then signs, then the old one is dropped')
    .option('--deadline <duration>', 'how long proxies and other zones are waited for, such as 30m (1h)')
    .option('--force', 'waits for nobody; a rotation that waits goes on at once')
    .option('--abandon', 'gives a rotation up whose new authority does not sign yet')
    .addOption(outputOption())
    .action(async (_: RotationOptions, command: Command) =>
      finish(await rotateAuthority(context, command.optsWithGlobals<RotationOptions>())),
    );
}
