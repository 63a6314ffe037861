import { fileKey, type Setting, type SettingForm, type Settings } from '@causeway/runtime';

/** Settings and what a reference says of them. */
export interface DescribedSettings {
  /** What the program is, in a sentence. */
  readonly description: string;
  readonly settings: Settings;
  /** A line about each setting. */
  readonly help: Readonly<Record<string, string>>;
}

const DURATION = '^[0-9]{1,9}(\\.[0-9]+)?(ms|s|m|h)$';

/** What `--help` shows: every setting with its default, what it is for, and which values it may have. */
export function helpText({ description, settings, help }: DescribedSettings): string {
  const rows = Object.entries(settings).map(([name, setting]) => [
    ...[name, presetOf(setting)],
    `${help[name] ?? ''} (${[formText(setting.form), ...marksOf(setting)].join('; ')})`,
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

/** The settings as a table of Markdown, those of `left` not (docs/reference/settings.md). */
export function settingsTable({ settings, help }: DescribedSettings, left: Settings = {}): string {
  const rows = Object.entries(settings)
    .filter(([name]) => !(name in left))
    .map(([name, setting]) => {
      const preset = presetOf(setting);
      const shown = preset === '-' || preset === 'required' ? preset : `\`${preset}\``;
      const meaning = [help[name] ?? '', ...marksOf(setting).map((mark) => `**${mark}**`)].join('; ');
      const cells = [`\`${name}\``, `\`${fileKey(name)}\``, shown, formText(setting.form), meaning];
      return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
    });
  return ['| variable | in the file | default | values | |', '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}

/** The JSON schema of files of these settings. Required settings are not required in a file: the environment may have them. */
export function settingsSchema({ description, settings, help }: DescribedSettings): object {
  const properties = Object.entries(settings)
    .filter(([name]) => name !== 'CAUSEWAY_CONFIG')
    .flatMap(([name, setting]) => [
      [fileKey(name), { description: help[name], ...schemaOf(setting) }] as const,
      ...(setting.secret && !(`${name}_FILE` in settings) ? [secretFileSchema(name)] : []),
    ]);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Settings of Causeway',
    description,
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(properties),
  };
}

/** The key that names a file with a secret. */
function secretFileSchema(name: string): readonly [key: string, schema: object] {
  return [fileKey(`${name}_FILE`), { description: `a file with ${fileKey(name)}`, type: 'string' }];
}

function schemaOf({ form, fallback }: Setting<unknown>): object {
  const preset = fallback === undefined || fallback === '' ? undefined : fallback;
  const textual = preset === undefined ? {} : { default: preset };
  const numeric = preset === undefined ? {} : { default: Number(preset) };
  switch (form.type) {
    case 'text':
      return { type: 'string', ...textual };
    case 'word':
      // Bare `on` and `off` are words to YAML 1.2.
      return { enum: form.words, ...textual };
    case 'flag':
      return { type: 'boolean', default: preset === 'true' };
    case 'port':
      return { type: 'integer', minimum: 0, maximum: 65535, ...numeric };
    case 'count':
      return { type: 'integer', minimum: form.least, ...numeric };
    case 'duration':
      return { type: 'string', pattern: DURATION, ...textual };
    case 'list':
      return { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }], ...textual };
  }
}

function formText(form: SettingForm): string {
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

function marksOf({ secret, reload }: Setting<unknown>): readonly string[] {
  const marks = { value: 'read anew', content: 'the content of the file is read anew' };
  return [...(secret ? ['secret'] : []), ...(reload ? [marks[reload]] : [])];
}

function presetOf({ fallback, optional }: Setting<unknown>): string {
  if (fallback !== undefined) return fallback === '' ? '-' : fallback;
  return optional ? '-' : 'required';
}
