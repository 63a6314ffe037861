import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError, type ResourceRef } from '@causeway/api-client';
import { isJsonObject, jsonEqual, type JsonObject } from '@causeway/resources';
import type { Command } from 'commander';
import { painter } from '../colour';
import { UsageError, type CommandContext } from '../context';
import { formatApiError } from '../control-plane';
import { DocumentError, parseDocuments } from '../documents';
import { meshOption, type SetExitCode } from '../options';
import { parseRefs, formatTitle } from '../refs';
import { structured } from '../render';
import { printWarnings } from './delete';
import { unifiedDiff } from '../diff';

export interface EditOptions {
  readonly mesh: string;
  readonly namespace?: string;
  readonly zone?: string;
}

/** Fields that only the control plane writes; the editor does not show them. */
const OWNED_BY_SERVER: readonly string[] = ['status', 'kri', 'generation', 'creationTime', 'modificationTime'];

/** A resource in its stored form. */
interface Stored {
  readonly text: string;
  readonly value: JsonObject;
  readonly etag: string;
}

/** `causeway edit`: opens a resource in the user's editor and writes it back. The text is reopened while the server refuses it. */
export async function edit(context: CommandContext, words: readonly string[], options: EditOptions): Promise<number> {
  const [ref, ...others] = parseRefs(context.registry, words, options);
  if (!ref || others.length > 0) throw new UsageError('edit takes one resource: KIND/NAME');
  const folder = await mkdtemp(join(tmpdir(), 'causeway-edit-'));
  const file = join(folder, `${ref.kind.toLowerCase()}-${ref.name.replaceAll(/[^a-z0-9.-]/gi, '_')}.yaml`);
  try {
    return await editIn(context, ref, file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function editIn(context: CommandContext, ref: ResourceRef, file: string): Promise<number> {
  let stored = await load(context, ref);
  let text = stored.text;
  /** Whether saving without a change is intended, because a change of another writer is shown. */
  let overwrites = false;
  let notes: readonly string[] = [
    `${formatTitle(ref)} at ${(await context.api()).server.host}. Lines that begin with # do not count.`,
    'Save and close the editor to write it; leave it as it is, or empty, to write nothing.',
  ];
  for (;;) {
    const edited = await openEditor(context, file, [...notes.map((note) => `# ${note}`), text].join('\n'));
    if (edited.trim() === '' || (edited === text && !overwrites)) {
      context.printError(edited === stored.text ? 'nothing was changed' : 'nothing was written');
      return edited === stored.text ? 0 : 1;
    }
    text = edited;
    overwrites = false;
    const result = await write(context, ref, { text, stored, file });
    if (result.type === 'written') return 0;
    if (result.type === 'changed') {
      const next = await load(context, ref);
      const changes = unifiedDiff(stored.value, next.value, painter(false));
      notes = [
        'It was changed by someone else in the meantime. What changed there:',
        ...changes,
        'Save to write your text over it; empty the file to write nothing.',
      ];
      stored = next;
      overwrites = true;
    } else notes = ['It was not written:', ...result.reasons];
  }
}

type WriteResult =
  | { readonly type: 'written' }
  | { readonly type: 'changed' }
  | { readonly type: 'refused'; readonly reasons: readonly string[] };

/** Errors after which the user edits again. */
const REFUSED: readonly string[] = ['invalid', 'conflict', 'precondition-failed'];

async function write(
  context: CommandContext,
  ref: ResourceRef,
  edited: { readonly text: string; readonly stored: Stored; readonly file: string },
): Promise<WriteResult> {
  try {
    const documents = parseDocuments(edited.file, edited.text);
    const value = documents[0]?.value;
    if (documents.length !== 1 || !isJsonObject(value))
      return { type: 'refused', reasons: ['it must be one document'] };
    if (jsonEqual(value, edited.stored.value)) {
      context.printError('nothing was changed');
      return { type: 'written' };
    }
    const { outcome, warnings } = await (await context.api()).replace(ref, value, { etag: edited.stored.etag });
    context.print(`${formatTitle(ref)} ${outcome}`);
    printWarnings(context, warnings);
    return { type: 'written' };
  } catch (error) {
    if (error instanceof DocumentError) return { type: 'refused', reasons: error.message.split('\n') };
    if (!(error instanceof ApiError) || !REFUSED.includes(error.code)) throw error;
    if (error.code !== 'invalid') return { type: 'changed' };
    return {
      type: 'refused',
      reasons: [formatApiError(error), ...error.violations.map(({ field, reason }) => `  ${field}: ${reason}`)],
    };
  }
}

async function load(context: CommandContext, ref: ResourceRef): Promise<Stored> {
  const { document, etag } = await (await context.api()).get(ref);
  const value = Object.fromEntries(Object.entries(document).filter(([key]) => !OWNED_BY_SERVER.includes(key)));
  return { value, text: `${structured(value, 'yaml')}\n`, etag };
}

/**
 * Returns the content of the file after the editor has ended, without comment lines. Throws UsageError if the editor
 * fails.
 */
async function openEditor(context: CommandContext, file: string, text: string): Promise<string> {
  await writeFile(file, text, { mode: 0o600 });
  const { editor } = context.config;
  const child = spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
  const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('exit', resolve));
  if (code !== 0)
    throw new UsageError(`the editor "${editor}" ended with ${code}: nothing was written (EDITOR names another)`);
  return (await readFile(file, 'utf8')).replaceAll(/^#.*\n?/gm, '');
}

/** `causeway edit`. */
export function registerEdit(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('edit')
    .description('opens a resource in your editor (VISUAL or EDITOR) and writes it back')
    .argument('<words...>', 'KIND/NAME or KIND NAME')
    .addOption(meshOption())
    .option('-n, --namespace <namespace>')
    .option('-z, --zone <zone>', "a zone's copy; empty for the global's")
    .action(async (words: string[], options: EditOptions) => finish(await edit(context, words, options)));
}
