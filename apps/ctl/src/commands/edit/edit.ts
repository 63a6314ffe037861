import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isJsonObject, jsonEqual, type JsonObject } from '@causeway/resources';
import type { Command } from 'commander';
import { ApiError } from '../../api-client';
import { UsageError, type CommandContext } from '../../context';
import { DocumentError, parseDocuments } from '../../documents';
import { meshOption, type SetExitCode } from '../../options';
import { addressOf, refsOf, titleOf, type ResourceRef } from '../../refs';
import { structured } from '../../render';
import { printWarnings } from '../delete';
import { unifiedDiff } from '../../diff';

export interface EditOptions {
  readonly mesh: string;
  readonly namespace?: string;
  readonly zone?: string;
}

/** Fields that only the control plane writes; the editor does not show them. */
const OWNED_BY_SERVER: readonly string[] = ['status', 'kri', 'generation', 'creationTime', 'modificationTime'];

/** A resource as the server has it. */
interface Stored {
  readonly text: string;
  readonly value: JsonObject;
  readonly etag: string | undefined;
}

/** `causeway edit`: opens a resource in the user's editor and writes it back. The text is reopened while the server refuses it. */
export async function edit(context: CommandContext, words: readonly string[], options: EditOptions): Promise<number> {
  const [ref, ...others] = refsOf(context.registry, words, options);
  if (!ref || others.length > 0) throw new UsageError('edit takes one resource: KIND/NAME');
  const folder = await mkdtemp(join(tmpdir(), 'causeway-edit-'));
  const file = join(folder, `${ref.kind.plural}-${ref.name.replaceAll(/[^a-z0-9.-]/gi, '_')}.yaml`);
  try {
    return await editIn(context, ref, { file, zone: options.zone });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function editIn(
  context: CommandContext,
  ref: ResourceRef,
  { file, zone }: { readonly file: string; readonly zone: string | undefined },
): Promise<number> {
  let stored = await load(context, ref, zone);
  let text = stored.text;
  /** Whether a person who saves without a change means it: what changed there is shown. */
  let overwrites = false;
  let notes: readonly string[] = [
    `${titleOf(ref)} at ${context.api().server.host}. Lines that begin with # do not count.`,
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
    const result = await write(context, ref, { text, stored, file, zone });
    if (result.type === 'written') return 0;
    if (result.type === 'changed') {
      const next = await load(context, ref, zone);
      const changes = unifiedDiff(stored.value, next.value, { color: false });
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

async function write(
  context: CommandContext,
  ref: ResourceRef,
  edited: { readonly text: string; readonly stored: Stored; readonly file: string; readonly zone: string | undefined },
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
    const { path, query } = addressOf(ref);
    const { etag } = edited.stored;
    const ifMatch = etag === undefined ? {} : { ifMatch: etag };
    const { body, outcome = 'updated' } = await context
      .api()
      .send({ method: 'PUT', path, query: { ...query, zone: edited.zone }, body: value, ...ifMatch });
    context.print(`${titleOf(ref)} ${outcome}`);
    printWarnings(context, body);
    return { type: 'written' };
  } catch (error) {
    if (error instanceof DocumentError) return { type: 'refused', reasons: error.message.split('\n') };
    if (!(error instanceof ApiError) || ![400, 409, 412, 422].includes(error.status)) throw error;
    if (error.status === 412 || error.status === 409) return { type: 'changed' };
    return {
      type: 'refused',
      reasons: [error.message, ...error.violations.map(({ field, reason }) => `  ${field}: ${reason}`)],
    };
  }
}

async function load(context: CommandContext, ref: ResourceRef, zone: string | undefined): Promise<Stored> {
  const { path, query } = addressOf(ref);
  const { body, headers } = await context.api().send({ method: 'GET', path, query: { ...query, zone } });
  const shown = isJsonObject(body) ? Object.entries(body).filter(([key]) => !OWNED_BY_SERVER.includes(key)) : [];
  const value = Object.fromEntries(shown);
  return { value, text: `${structured(value, 'yaml')}\n`, etag: headers.etag };
}

/** What stands in the file after the editor has ended, without lines of comment. Throws UsageError if the editor fails. */
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
