import { fileKey, type Setting, type Settings } from '@causeway/runtime';

/** What `--help` shows: every setting with its default and what it is for. */
export function helpText({
  description,
  settings,
  help,
}: {
  readonly description: string;
  readonly settings: Settings;
  readonly help: Readonly<Record<string, string>>;
}): string {
  const rows = Object.entries(settings).map(([name, setting]) => [name, defaultOf(setting), help[name] ?? '']);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => `  ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}`.trimEnd());
  return [
    description,
    '',
    'It is set by environment variables, or by the YAML file that CAUSEWAY_CONFIG names, in which',
    `CAUSEWAY_REST_PORT is ${fileKey('CAUSEWAY_REST_PORT')}. --help shows this, --version the version.`,
    '',
    ...lines,
  ].join('\n');
}

function defaultOf({ fallback, optional }: Setting<unknown>): string {
  if (fallback !== undefined) return fallback === '' ? '-' : fallback;
  return optional ? '-' : 'required';
}
