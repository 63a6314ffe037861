import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { coreKinds } from '@causeway/kinds';
import { MAX_FOUND, MAX_TOPOLOGY_NODES, MAX_VALUES } from '@causeway/queries/testing';
import { DEFAULT_LIMITS } from '@causeway/rest/testing';

const FILE = join(__dirname, '..', '..', 'docs', 'reference', 'bounds.md');
const LONGEST_LISTS = 3;

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly anyOf?: readonly Schema[];
}

/** Every list of a schema with its bound. */
function listsOf(schema: Schema, at: string): readonly (readonly [at: string, most: number])[] {
  const own = schema.items ? [[at, schema.maxItems ?? Infinity] as const] : [];
  const fields = Object.entries(schema.properties ?? {}).flatMap(([key, field]) =>
    listsOf(field, at === '' ? key : `${at}.${key}`),
  );
  const others = [...Object.values(schema.patternProperties ?? {}), ...(schema.anyOf ?? [])].flatMap((one) =>
    listsOf(one, at),
  );
  return [...own, ...fields, ...others, ...(schema.items ? listsOf(schema.items, `${at}[]`) : [])];
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}

function kindsTable(): string {
  const rows = coreKinds.kinds.map(({ name, bounds, spec }) => {
    const longest = [...listsOf(spec, '')].sort((a, b) => b[1] - a[1]).slice(0, LONGEST_LISTS);
    const lists = longest.map(([at, most]) => `\`${at}\` ${number(most)}`).join(', ');
    return `| ${name} | ${number(bounds.bytes / 1024)} KiB | ${bounds.labels} | ${lists} |`;
  });
  return ['| kind | labels and spec as JSON | labels | longest lists |', '| --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
}

function restTable(): string {
  const rows = Object.entries(DEFAULT_LIMITS).map(([name, value]) => `| \`${name}\` | ${number(value)} |`);
  return ['| limit | value |', '| --- | --- |', ...rows].join('\n');
}

function policiesTable(): string {
  const rows = [
    ['nodes of one topology', MAX_TOPOLOGY_NODES, 'the graph says `truncated`; ask with `root`'],
    ['values of effective specs of one page', MAX_VALUES, 'the page ends early, at one path at least; `next` leads on'],
    ['objects that one reference is shown to find', MAX_FOUND, '`foundTotal` counts all'],
  ] as const;
  return [
    '| answer about policies | most | above it |',
    '| --- | --- | --- |',
    ...rows.map(([what, most, then]) => `| ${what} | ${number(most)} | ${then} |`),
  ].join('\n');
}

/** The page with its generated parts made anew. */
function made(page: string): string {
  const parts = [
    ['<!-- kinds: UPDATE_GOLDEN=1 npx jest test/docs/bounds.spec.ts -->', '<!-- end of the kinds -->', kindsTable()],
    ['<!-- rest -->', '<!-- end of rest -->', restTable()],
    ['<!-- policies -->', '<!-- end of policies -->', policiesTable()],
  ] as const;
  return parts.reduce((text, [begin, end, table]) => {
    const [before = '', rest = ''] = text.split(begin);
    const [, after = ''] = rest.split(end);
    return `${before}${begin}\n\n${table}\n\n${end}${after}`;
  }, page);
}

describe('docs/reference/bounds.md', () => {
  it('says what the registry and the code say', () => {
    const page = readFileSync(FILE, 'utf8');
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(FILE, made(page));
    else expect(page).toBe(made(page));
  });

  it.each(coreKinds.kinds)('$name has a bound for every list', ({ spec }) => {
    expect(listsOf(spec, '').filter(([, most]) => most === Infinity)).toEqual([]);
  });

  it('names only settings that exist', () => {
    const page = readFileSync(FILE, 'utf8');
    const configs = ['global', 'zone'].map((app) =>
      readFileSync(join(__dirname, '..', '..', 'apps', app, 'src', 'config.ts'), 'utf8'),
    );
    const named = new Set(page.match(/CAUSEWAY_(?:KDS|DNS)_[A-Z_]+/g));
    expect([...named].filter((name) => !configs.some((config) => config.includes(name)))).toEqual([]);
  });
});
