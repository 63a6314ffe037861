import { rotateWorkloadAuthority, showWorkloadAuthority, type WorkloadAuthority } from '@causeway/api';
import type { Command } from 'commander';
import type { CommandContext } from '../../context';
import { outputOption, parseSeconds, type SetExitCode } from '../../options';
import { age, inLines, structured, table, type Output } from '../../render';

export interface AuthorityOptions {
  readonly output: Output;
}

export interface RotationOptions extends AuthorityOptions {
  readonly deadline?: string;
  readonly force?: boolean;
  readonly abandon?: boolean;
}

/** `causeway ca`: the certificate authority of a zone's workloads, and the state of its rotation. */
export async function showAuthority(context: CommandContext, { output }: AuthorityOptions): Promise<number> {
  print(context, await (await context.api()).rest.call(showWorkloadAuthority), output);
  return 0;
}

/** `causeway ca rotate`: starts a rotation, forces its waiting step, or cancels it; then shows its state. */
export async function rotateAuthority(context: CommandContext, options: RotationOptions): Promise<number> {
  const { deadline, force, abandon, output } = options;
  const body = {
    ...(deadline === undefined ? {} : { deadline: `${parseSeconds(deadline, '--deadline')}s` }),
    ...(force ? { force } : {}),
    ...(abandon ? { abandon } : {}),
  };
  const status = await (await context.api()).rest.call(rotateWorkloadAuthority, { body });
  print(context, status, output);
  if (status.order) context.printError('no leader has carried the order out yet');
  return 0;
}

function print(context: CommandContext, authority: WorkloadAuthority, output: Output): void {
  if (output !== 'table') return context.print(structured(authority, output));
  const [shown, now] = [inLines(authority), context.now()];
  context.print([...stepLines(shown, now), '', authorityTable(shown, now)].join('\n'));
}

const STEPS: Readonly<Record<string, string>> = {
  steady: 'steady: one authority signs and is trusted',
  trusting: 'trusting: the new authority is made known; the old one signs',
  retiring: 'retiring: the new authority signs; the old one is trusted until its last certificate has ended',
};

/** Returns the lines about the step, one fact each. */
function stepLines(authority: WorkloadAuthority, now: number): readonly string[] {
  const { step, since, deadline, until = '', usedBy = '', missing } = authority;
  const { total, items: names } = missing;
  const facts: readonly (readonly [string, string])[] = [
    ['Step', STEPS[step] ?? step],
    ['Since', since ? `${since} (${age(since, now)} ago)` : ''],
    ['Deadline', deadline ? `${deadline}: it is used then, whoever is missing` : ''],
    ['Until', until],
    ['Used by', usedBy],
    ['Missing', total === 0 ? '' : `${total}`],
  ];
  const lines = facts.filter(([, value]) => value !== '').map(([name, value]) => `${name.padEnd(10)}${value}`);
  const more = total > names.length ? [`  and ${total - names.length} more`] : [];
  return [...lines, ...names.map((name) => `  ${name}`), ...more];
}

function authorityTable({ authorities }: WorkloadAuthority, now: number): string {
  const rows = authorities.map(({ id, signs, creationTime, notAfter, sha256 }) => [
    id,
    signs ? 'signs, trusted' : 'trusted',
    age(creationTime, now),
    notAfter,
    sha256,
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
