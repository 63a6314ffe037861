import { compareText, type JsonObject, type JsonValue } from '@causeway/resources';
import { Option } from 'commander';
import { UsageError } from '../../context';
import { jsonPath, jsonPathTemplate, type JsonPath } from '../../json-path';

/** The output forms of `get`. */
export type OutputForm =
  | { readonly type: 'table' | 'wide' | 'yaml' | 'json' | 'name' }
  | { readonly type: 'jsonpath'; readonly template: JsonPath<string> };

const FORMS = ['table', 'wide', 'yaml', 'json', 'name'] as const;

/** Parses the form of `-o`. Throws UsageError. */
export function parseOutputForm(text: string): OutputForm {
  const type = FORMS.find((form) => form === text);
  if (type) return { type };
  const template = /^jsonpath=(.*)$/s.exec(text)?.[1];
  if (template !== undefined) return { type: 'jsonpath', template: jsonPathTemplate(template) };
  throw new UsageError(`-o ${text}: is no form; there are ${FORMS.join(', ')} and jsonpath=TEMPLATE`);
}

/** The option `-o` of `get`; the choices are for completion. */
export const outputFormOption = (): Option =>
  new Option('-o, --output <form>', 'form of the output')
    .choices([...FORMS, 'jsonpath='])
    .default('table')
    .argParser((text) => {
      parseOutputForm(text);
      return text;
    });

/** Sorts items by the value at a path: numbers by size, all else as text; items without a value come last. */
export function sortedBy(path: string, items: readonly JsonObject[]): JsonObject[] {
  const valueAt = jsonPath(path);
  const keyed = items.map((item) => ({ item, key: valueAt(item)[0] }));
  return keyed.sort((a, b) => compareValues(a.key, b.key)).map(({ item }) => item);
}

function compareValues(a: JsonValue | undefined, b: JsonValue | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return compareText(sortText(a), sortText(b));
}

function sortText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
