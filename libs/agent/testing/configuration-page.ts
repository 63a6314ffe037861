import { isJsonArray, isJsonObject, type JsonObject } from '@causeway/resources';
import { AgentSchema } from '../src/config/schema';

/** A field of the configuration, as its reference shows it. */
interface FieldRow {
  readonly path: string;
  readonly form: string;
  readonly preset: string;
  readonly description: string;
}

/** The table of all fields of the configuration, in Markdown (docs/reference/agent.md). */
export function configurationTable(): string {
  const schema: unknown = JSON.parse(JSON.stringify(AgentSchema));
  const rows = [...listRows(objectIn(schema), '')].map(
    ({ path, form, preset, description }) => `| \`${path}\` | ${form} | ${preset} | ${description} |`,
  );
  return ['| field | | preset | |', '|---|---|---|---|', ...rows].join('\n');
}

function* listRows(schema: JsonObject, above: string): Iterable<FieldRow> {
  const required = JSON.stringify(schema['required'] ?? []);
  for (const [name, value] of Object.entries(objectIn(schema['properties']))) {
    const part = objectIn(value);
    const { default: preset, description } = part;
    const isList = part['type'] === 'array';
    const path = `${above}${name}${isList ? '[]' : ''}`;
    const isRequired = required.includes(JSON.stringify(name)) && preset === undefined;
    const inner = isList ? objectIn(part['items']) : part;
    yield {
      path,
      form: formatType(inner),
      preset: preset === undefined ? '' : `\`${JSON.stringify(preset)}\``,
      ...(isRequired && { preset: 'required' }),
      description: typeof description === 'string' ? description.replaceAll('|', '\\|') : '',
    };
    if (inner['properties']) yield* listRows(inner, `${path}.`);
  }
}

function formatType({ type, title, enum: options, minimum, maximum }: JsonObject): string {
  if (isJsonArray(options)) return options.map((option) => `\`${formatValue(option)}\``).join(', ');
  if (typeof title === 'string') return title;
  if (type === 'integer') return `${formatValue(minimum)} to ${formatValue(maximum)}`;
  return type === 'object' ? 'object' : type === 'boolean' ? 'true, false' : 'text';
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function objectIn(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
