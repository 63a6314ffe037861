import { chmod, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { exportStore as downloadStore } from '@causeway/api';
import { BackupReader, type BackupHeader } from '@causeway/store';
import type { Command } from 'commander';
import { UsageError, type CommandContext } from '../context';
import type { SetExitCode } from '../options';
import { writeLines } from '../printer';

/** Options of `causeway export`. */
interface ExportOptions {
  /** Absent or `-`: standard output. */
  readonly output?: string;
  readonly secrets?: boolean;
}

/** Maximum number of problems that are printed. */
const MAX_SHOWN = 5;
/** Maximum number of characters that are written at once. */
const PIECE = 256 * 1024;

/** The destination of a backup's text. */
interface Target {
  write(text: string): Promise<void>;
  /** Completes the backup. */
  finish(): Promise<void>;
  /** Discards an incomplete backup. */
  discard(): Promise<void>;
}

/** `causeway export`: the exit code is 0 if the backup is complete. */
export async function exportStore(context: CommandContext, options: ExportOptions): Promise<number> {
  const { output = '-', secrets = false } = options;
  if (output === '-' && secrets && process.stdout.isTTY)
    throw new UsageError('a backup with secrets is not printed to a terminal: give --output FILE, or pipe it');
  const { rest } = await context.api();
  const target = output === '-' ? toStandardOutput() : await toFile(output);
  const reader = new BackupReader();
  try {
    let waiting = '';
    for await (const line of rest.lines(downloadStore, { query: { secrets } })) {
      reader.read(line);
      waiting += `${line}\n`;
      if (waiting.length < PIECE) continue;
      await target.write(waiting);
      waiting = '';
    }
    await target.write(waiting);
    reader.close();
    if (reader.whole) await target.finish();
  } catch (error) {
    await target.discard();
    throw error;
  }
  const { header } = reader;
  if (reader.whole && header) return printSummary(context, header, output);
  await target.discard();
  for (const { line, reason } of reader.problems.slice(0, MAX_SHOWN)) context.printError(`line ${line}: ${reason}`);
  context.printError('the backup that the control plane sent is not whole: nothing was kept; run the command again');
  return 1;
}

function printSummary(
  { printError }: CommandContext,
  { owner, head, secrets, counts }: BackupHeader,
  output: string,
): number {
  const whose = owner.role === 'global' ? 'the global control plane' : `zone ${owner.zone}`;
  const where = output === '-' ? '' : ` to ${output}`;
  printError(`exported ${whose} at revision ${head.revision}${where}: ${counts.resources} resources`);
  printError(
    secrets
      ? 'it holds secrets in plain text: keep it as you keep private keys'
      : 'without secrets: whoever restores it gets new signing keys, and tokens of before are refused (--secrets adds them)',
  );
  return 0;
}

/**
 * Writes to a file that only its owner can read; it gets its name, and replaces an earlier file, only when it is complete. Throws UsageError if it
 * cannot be written, as on a full disk.
 */
async function toFile(path: string): Promise<Target> {
  const unfinished = `${path}.part`;
  const refuse = (cause: unknown): never => {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw new UsageError(`${path}: cannot be written (${reason})`, { cause });
  };
  const file: FileHandle = await open(unfinished, 'w', 0o600).catch(refuse);
  await chmod(unfinished, 0o600); // The file may be left over from an earlier run.
  return {
    write: async (text) => void (await file.writeFile(text).catch(refuse)),
    finish: async () => {
      await file.sync().catch(refuse);
      await file.close();
      await rename(unfinished, path).catch(refuse);
    },
    discard: async () => {
      await file.close();
      await rm(unfinished, { force: true });
    },
  };
}

function toStandardOutput(): Target {
  const nothing = (): Promise<void> => Promise.resolve();
  return { write: writeLines, finish: nothing, discard: nothing };
}

/** `causeway export`. */
export function registerExport(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('export')
    .description('writes a backup of all that the store of a control plane holds, as of one revision')
    .option('-o, --output <file>', 'the file; standard output without it')
    .option('--secrets', 'with Secrets, signing keys of tokens and keys of the store, in plain text')
    .action(async (options: ExportOptions) => finish(await exportStore(context, options)));
}
