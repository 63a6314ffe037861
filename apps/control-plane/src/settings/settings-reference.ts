import { fileKey, type Setting, type SettingForm, type Settings } from '@causeway/runtime';

/** Settings and their descriptions in a reference. */
export interface DescribedSettings {
  /** Description of the program in one sentence. */
  readonly description: string;
  readonly settings: Settings;
  /** Description of each setting in one line. */
  readonly help: Readonly<Record<string, string>>;
}

/** Returns the text of `--help`: every setting with its default, its purpose, and its values. */
export function helpText({ description, settings, help }: DescribedSettings): string {
  const rows = Object.entries(settings).map(([name, setting]) => [
    name,
    formatDefault(setting),
    `${help[name] ?? ''} (${[formText(setting.form), ...listMarks(setting)].join('; ')})`,
  ]);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => `  ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}`.trimEnd());
  return [
    description,
    '',
    'It is set by environment variables, or by the YAML file that CAUSEWAY_CONFIG names, in which',
    `CAUSEWAY_REST_PORT is ${fileKey('CAUSEWAY_REST_PORT')}. A secret may stand in a file that the variable with _FILE`,
    'behind its name names (DATABASE_URL_FILE, in the YAML file databaseUrlFile). --help shows this, --version the version;',
    '`import FILE` restores a backup of `causeway export` into the empty database of the settings, `import FILE --dry-run` only',
    'checks it.',
    '',
    ...lines,
  ].join('\n');
}

export function formText(form: SettingForm): string {
  switch (form.type) {
    case 'text':
      return 'text';
    case 'word':
      return form.words.join(', ');
    case 'flag':
      return 'true, false';
    case 'port':
      return 'port, 0 to 65535';
    case 'count':
      return `number of at least ${form.least}`;
    case 'duration':
      return form.range ? `time, ${form.range.join(' to ')}` : 'time';
    case 'list':
      return 'list';
  }
}

export function listMarks({ secret, reload }: Setting<unknown>): readonly string[] {
  const marks = { value: 'read anew', content: 'the content of the file is read anew' };
  return [...(secret ? ['secret'] : []), ...(reload ? [marks[reload]] : [])];
}

export function formatDefault({ fallback, optional }: Setting<unknown>): string {
  if (fallback !== undefined) return fallback === '' ? '-' : fallback;
  return optional ? '-' : 'required';
}
