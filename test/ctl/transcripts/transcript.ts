import { pageExamples } from '../../docs/page-examples';

/** The pages whose `console` blocks need a global and two zones, from the root of the repository. */
export const CLI_PAGES: readonly string[] = [
  'docs/reference/cli.md',
  'docs/reference/cli-operations.md',
  'docs/guides/policies.md',
];

/** Those that operate the machines of a zone: its services, its Postgres, its Redis. */
export const OPERATION_PAGES: readonly string[] = [
  'docs/guides/backup.md',
  'docs/guides/high-availability.md',
  'docs/guides/troubleshooting.md',
];

/** The pages whose `console` blocks are run. */
export const TRANSCRIPT_PAGES: readonly string[] = [...CLI_PAGES, ...OPERATION_PAGES];

/** One command of a transcript and all that it printed, its error output in between, in the order of the lines. */
export interface Step {
  readonly command: string;
  readonly output: string;
}

/** A fenced block ```` ```console WHERE ```` of a page: its commands run against the control plane `where` (default: global). */
export interface Transcript {
  readonly title: string;
  readonly where: string;
  /** Number of the line that opens the block, from 1. */
  readonly line: number;
  readonly steps: readonly Step[];
}

/** The transcripts of a page, in its order. A command begins with `$ `, its further lines with `> `. */
export function readTranscripts(page: string): readonly Transcript[] {
  return pageExamples(page).flatMap(({ title, blocks }) =>
    blocks
      .filter(({ language }) => language === 'console')
      .map(({ argument, text, line }) => ({ title, where: argument || 'global', line, steps: stepsOf(text, line) })),
  );
}

function stepsOf(text: string, line: number): readonly Step[] {
  const steps: { command: string; output: string }[] = [];
  for (const each of text.split('\n')) {
    const step = steps.at(-1);
    if (each.startsWith('$ ')) steps.push({ command: each.slice(2), output: '' });
    else if (!step) throw new Error(`line ${line}: a transcript begins with a command, as in "$ causeway version"`);
    else if (/^>( |$)/.test(each) && step.output === '') step.command += `\n${each.slice(2)}`;
    else step.output += `${each}\n`;
  }
  return steps;
}

/** The page with other outputs in its transcripts. */
export function replaceTranscripts(page: string, transcripts: readonly Transcript[]): string {
  const lines = page.split('\n');
  for (const { line, steps } of [...transcripts].reverse()) {
    const length = lines.slice(line).indexOf('```');
    lines.splice(line, length, ...steps.flatMap(linesOf));
  }
  return lines.join('\n');
}

function linesOf({ command, output }: Step): string[] {
  return [`$ ${command.replaceAll(/\n/g, '\n> ')}`, ...(output === '' ? [] : [output.trimEnd()])];
}

/** Texts that differ from run to run, and their placeholders in a comparison. */
const MASKS: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'UUID'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME'],
  [/\bcp-\d+-[0-9a-f]{4}\b/g, 'INSTANCE'],
  [/\b(\d+(\.\d+)?(ms|s|m|h|d))+\b/g, 'DURATION'],
  [/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT'],
  [/\b241\.\d+\.\d+\.\d+/g, 'VIP'],
  [/\b([0-9A-F]{2}:){31}[0-9A-F]{2}\b/g, 'FINGERPRINT'],
  [/\b[0-9a-f]{32}\b/g, 'AUTHORITY'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'TOKEN'],
  [/\brevision \d+/g, 'revision NUMBER'],
  [/\b\d+ (resources|deleted ones)/g, 'COUNT $1'],
  [/(\d\.\d\.\d +)\d+( +INSTANCE)/g, '$1SESSION$2'],
  [/^(nodejs_\w+) [\d.e+-]+$/gm, '$1 NUMBER'],
  [/\bpid \d+/g, 'pid NUMBER'],
  [/\b\d+ bytes/g, 'NUMBER bytes'],
  [/^( *\w+ +(?:up|down) +)\S+ +\S+ +\S+ /gm, '$1REVISIONS '],
  [/[ \t]+/g, ' '],
  [/ $/gm, ''],
];

/** An output without what differs from run to run: times, durations, ports, virtual IPs, ids and the widths of columns. */
export function masked(output: string): string {
  return MASKS.reduce((text, [pattern, mask]) => text.replace(pattern, mask), output.trimEnd());
}
