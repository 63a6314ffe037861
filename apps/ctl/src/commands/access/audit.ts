import { listAuditEntries, type AuditEntry } from '@causeway/api';
import { Option, type Command } from 'commander';
import { findKind, UsageError, type CommandContext } from '../../context';
import { outputOption, parseSeconds, type SetExitCode } from '../../options';
import { inLines, joinGiven, pathTo, structured, table, type Output } from '../../render';

export interface AuditOptions {
  readonly user?: string;
  readonly verb?: string;
  readonly kind?: string;
  readonly mesh?: string;
  readonly name?: string;
  readonly result?: AuditEntry['result'];
  readonly since?: string;
  readonly until?: string;
  readonly limit: string;
  readonly output: Output | 'wide';
}

/** `causeway audit`: actions of users and their refusals, newest first. */
export async function audit(context: CommandContext, options: AuditOptions): Promise<number> {
  const limit = Number(options.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_ENTRIES)
    throw new UsageError(`--limit: must be 1 to ${MAX_ENTRIES}`);
  const entries = await listEntries(context, options, limit);
  if (options.output === 'yaml' || options.output === 'json')
    context.print(structured({ items: entries }, options.output));
  else if (entries.length === 0) context.printError('nothing is recorded that matches');
  else {
    const wide = options.output === 'wide';
    const head = ['TIME', 'USER', 'VERB', 'WHAT', 'RESULT', ...(wide ? ['FROM', 'AS', 'GENERATION'] : []), 'REASON'];
    const rows = inLines(entries).map((entry) => toRow(entry, wide));
    context.print(table(head, rows));
  }
  return 0;
}

/** Maximum number of entries that are shown. */
const MAX_ENTRIES = 100_000;

async function listEntries(
  context: CommandContext,
  options: AuditOptions,
  limit: number,
): Promise<readonly AuditEntry[]> {
  const { user, verb, kind, mesh, name, result } = options;
  const [since, until] = [parseTime(context, options.since, '--since'), parseTime(context, options.until, '--until')];
  const query = { user, verb, kind: kindName(context, kind), mesh, name, result, since, until };
  return (await context.api()).rest.items(listAuditEntries, { query, most: limit });
}

/** Returns the name of a kind; an unknown word is kept, for activities such as ZoneToken. */
function kindName({ registry }: CommandContext, word: string | undefined): string | undefined {
  return word === undefined ? undefined : (findKind(registry, word)?.name ?? word);
}

/** Parses a time, or an age such as `1h`. */
function parseTime(context: CommandContext, text: string | undefined, flag: string): string | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+[smhdw]/.test(text)) return /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text;
  return new Date(context.now() - parseSeconds(text, flag) * 1_000).toISOString();
}

function toRow(entry: AuditEntry, wide: boolean): string[] {
  const { time, user, verb = '', kind, activity = '', result, address, recognizedBy, reason = '' } = entry;
  const subject = joinGiven([kind, pathTo(entry)], ' ') || activity;
  const generations = `${entry.generationBefore ?? '-'} → ${entry.generationAfter ?? '-'}`;
  const more = wide ? [joinGiven([address, entry.interface], ' '), recognizedBy, generations] : [];
  return [time, user, verb, subject, result, ...more, reason];
}

/** `causeway audit`. */
export function registerAudit(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('audit')
    .description('shows who changed what, and what was refused, newest first')
    .option('--user <user>')
    .option('--verb <verb>', 'create, update, delete')
    .option('--kind <kind>')
    .option('-m, --mesh <mesh>')
    .option('--name <name>', 'the name of the resource')
    .addOption(new Option('--result <result>').choices(['done', 'refused']))
    .option('--since <time>', 'a time such as 2026-01-31T12:00:00Z, or how long ago: 1h')
    .option('--until <time>', 'a time, or how long ago')
    .option('--limit <entries>', 'entries that are shown', '100')
    .addOption(outputOption().choices(['table', 'wide', 'yaml', 'json']))
    .action(async (options: AuditOptions) => finish(await audit(context, options)));
}
