import { fileKey, type Setting, type Settings } from '@causeway/runtime';
import { formText, listMarks, formatDefault, type DescribedSettings } from '../src/settings/settings-reference';

const DURATION = '^[0-9]{1,9}(\\.[0-9]+)?(ms|s|m|h)$';

/** The settings as a table of Markdown, those of `left` not (docs/reference/settings.md). */
export function settingsTable({ settings, help }: DescribedSettings, left: Settings = {}): string {
  const rows = Object.entries(settings)
    .filter(([name]) => !(name in left))
    .map(([name, setting]) => {
      const preset = formatDefault(setting);
      const shown = preset === '-' || preset === 'required' ? preset : `\`${preset}\``;
      const meaning = [help[name] ?? '', ...listMarks(setting).map((mark) => `**${mark}**`)].join('; ');
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
      [fileKey(name), { description: help[name], ...toSchema(setting) }] as const,
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

function toSchema({ form, fallback }: Setting<unknown>): object {
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
