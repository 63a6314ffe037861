import type { Command } from 'commander';
import { isJsonObject } from '@causeway/resources';
import { UsageError, type CommandContext } from '../../context';
import { readDocuments } from '../../documents';
import type { SetExitCode } from '../../options';
import { structured } from '../../render';
import { ApplyReport, ProgressLine } from '../apply/apply-report';
import { applyDocuments } from '../apply/batches';
import { lackingSuffixes, meshNaming, suffixAdvice } from './name-suffixes';
import { importAppMesh, type ImportedAppMesh, type ImportNote } from './app-mesh';

/** Options of `causeway import app-mesh`. */
export interface ImportOptions {
  readonly filename: readonly string[];
  readonly set?: readonly string[];
  readonly dryRun?: boolean;
  /** Whether to set the suffixes under which the names are hostnames, which a mesh-operator may do. */
  readonly setSuffixes?: boolean;
  /** Prints the resources and applies nothing. */
  readonly output?: 'yaml' | 'json';
}

/** Files of a folder that are read, including templates of walkthroughs. */
const MANIFESTS = /\.(ya?ml|json)(\.template)?$/;

/** `causeway import app-mesh`: the exit code is 0 if nothing was refused, here or by the control plane. */
export async function importFiles(context: CommandContext, options: ImportOptions): Promise<number> {
  const variables = new Map((options.set ?? []).map(parseVariable));
  const given = await readDocuments(options.filename, context.stdin, MANIFESTS);
  if (given.length === 0) throw new UsageError(nothingIn(options.filename));
  const imported = await withSuffixes(context, importAppMesh(given, variables), options);
  // If documents are printed for applying, standard output contains nothing else.
  const print = options.output ? context.printError : context.print;
  printReport(imported, print);
  for (const one of imported.advice) print(one);
  const refused = imported.notes.filter(({ outcome }) => outcome === 'refused').length;
  if (options.output) printDocuments(context, imported, options.output);
  else if (imported.documents.length === 0) context.printError('nothing to apply');
  else if ((await applyAll(context, imported, options)) > 0) return 1;
  return refused > 0 ? 1 : 0;
}

/**
 * Inserts the MeshNamings that the names need before the members of their mesh, if requested; else prints how an operator sets them. Only an import
 * that applies is compared with the state of the control plane.
 */
async function withSuffixes(
  context: CommandContext,
  imported: ImportedAppMesh,
  { output, setSuffixes = false }: ImportOptions,
): Promise<ImportedAppMesh & { readonly advice: readonly string[] }> {
  const { documents } = imported;
  const [first] = documents;
  if (!first) return { ...imported, advice: [] };
  const lacking = await lackingSuffixes(documents, output ? undefined : await context.api());
  if (!setSuffixes) return { ...imported, advice: lacking.map(suffixAdvice) };
  const namings = lacking.map((one) => ({ ...first, value: meshNaming(one) }));
  const place = documents.findIndex(({ value }) => !isJsonObject(value) || value['kind'] !== 'Mesh');
  return {
    ...imported,
    documents: documents.toSpliced(place < 0 ? documents.length : place, 0, ...namings),
    advice: [],
  };
}

const nothingIn = (paths: readonly string[]): string =>
  `nothing to import: ${paths.join(', ')} holds no documents; of a folder the files *.yaml, *.yml and *.json are read (with .template behind it, too), and not the folders in it`;

function parseVariable(text: string): readonly [string, string] {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new UsageError(`--set takes NAME=VALUE; got "${text}"`);
  return [name, value];
}

async function applyAll(
  context: CommandContext,
  { documents }: ImportedAppMesh,
  { dryRun = false }: ImportOptions,
): Promise<number> {
  const report = new ApplyReport(context, documents.length, dryRun);
  const progress = new ProgressLine();
  try {
    await applyDocuments(
      context,
      documents,
      { mesh: '', dryRun },
      {
        progress: (far) => progress.show(far),
        result: (reported) => {
          progress.clear();
          return report.result(reported, () => Promise.resolve());
        },
      },
    );
  } finally {
    progress.clear();
    report.end();
  }
  return report.failures;
}

function printDocuments({ print }: CommandContext, { documents }: ImportedAppMesh, output: 'yaml' | 'json'): void {
  const values = documents.map(({ value }) => value);
  if (output === 'json') print(structured(values, 'json'));
  else print(values.map((value) => structured(value, 'yaml')).join('\n---\n'));
}

/** Prints the parts that were translated, changed, left out, refused and skipped, and the instances that need a Dataplane. */
function printReport({ documents, notes, instances }: ImportedAppMesh, print: (line: string) => void): void {
  print(`understood: ${documents.length} document${documents.length === 1 ? '' : 's'}`);
  for (const outcome of ['changed', 'left out'] as const) {
    for (const line of joined(notes.filter((note) => note.outcome === outcome))) print(`${outcome}: ${line}`);
  }
  for (const note of notes.filter(({ outcome }) => outcome === 'refused')) {
    const place = `${note.document.file}:${note.document.placeOf('metadata.name')}`;
    print(`refused: ${note.who === place ? place : `${place}: ${note.who}`}: ${note.reason}`);
  }
  for (const line of joined(notes.filter(({ outcome }) => outcome === 'skipped'))) print(`skipped: ${line}`);
  for (const { workload, namespace, labels, ports, nodes } of instances) {
    const texts = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
    const where = ports.length === 0 ? '' : `, port ${ports.join(', ')}`;
    const what = `namespace ${namespace}, labels ${texts.join(',')}${where}`;
    print(`to do: each instance of ${workload} registers a Dataplane: ${what} (${nodes.join(', ')})`);
  }
}

/** Joins notes of one field and one reason in one line, with all their documents. */
function joined(notes: readonly ImportNote[]): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const { who, field, reason } of notes) {
    const what = field === '' ? reason : `${field.replace(/\[\d+\]/g, '[]')}: ${reason}`;
    const known = groups.get(what);
    if (!known) groups.set(what, [who]);
    else if (known.at(-1) !== who) known.push(who);
  }
  return [...groups].map(([what, all]) => `${what} (${listed(all)})`);
}

/** Maximum number of names on one line. */
const MAX_NAMES = 6;

function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return names.slice(0, MAX_NAMES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** `causeway import`. */
export function registerImport(program: Command, context: CommandContext, finish: SetExitCode): void {
  const group = program.command('import').description('takes over what another mesh was configured with');
  group
    .command('app-mesh')
    .description('applies manifests of App Mesh (appmesh.k8s.aws/v1beta2), and says what of them it left out')
    .requiredOption('-f, --filename <path...>', 'files, folders, or -')
    .option('--set <name=value...>', 'the value of ${NAME} in the files; can be given more than once')
    .option('--set-suffixes', 'set the suffixes under which the names are hostnames; only a mesh-operator may')
    .option('--dry-run', 'check everything, show what would change, write nothing')
    .option('-o, --output <form>', 'print the resources as yaml or json instead of applying them')
    .action(async (options: ImportOptions) => finish(await importFiles(context, checked(options))));
}

function checked(options: ImportOptions): ImportOptions {
  const { output } = options;
  if (output === undefined || ['yaml', 'json'].includes(output)) return options;
  throw new UsageError(`--output is yaml or json; got "${String(output)}"`);
}
