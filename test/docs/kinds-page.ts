import { stringify } from 'yaml';
import { listGroups, type Kind } from '@causeway/resources';
import { apiGroups } from '@causeway/resources/testing';

/** Fields of a JSON schema that the page shows. */
interface FieldSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly patternProperties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
  readonly items?: FieldSchema;
  readonly anyOf?: readonly FieldSchema[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly pattern?: string;
  readonly examples?: readonly unknown[];
}

const LONGEST_PATTERN = 50;

/** Returns the section of one kind: its names, its writers, its receivers, every field with its bounds, an example. */
export function kindSection(kind: Kind): string {
  const rows = fieldRows(kind.spec, '');
  const fields = rows.length ? ['', '| field of `spec` | form | |', '| --- | --- | --- |', ...rows] : [];
  return [`## ${kind.name}`, '', ...facts(kind).map((fact) => `* ${fact}`), ...fields, ...example(kind)].join('\n');
}

/** All kinds in one table, each with a link to its section. */
export function kindsOverview(kinds: readonly Kind[]): string {
  const rows = kinds.map((kind) => {
    const { name, plural, shortName, scope, namespaced, sync, writer } = kind;
    const where = scope === 'mesh' ? `mesh${namespaced ? ', namespace' : ''}` : namespaced ? 'namespace' : '';
    return `| [${name}](#${name.toLowerCase()}) | \`${plural}\` | \`${shortName}\` | ${where} | ${writers[writer]} | ${writtenOn(sync)} |`;
  });
  const head = [
    '| kind | path and noun | short | within | least role | written on |',
    '| --- | --- | --- | --- | --- | --- |',
  ];
  return [...head, ...rows, '', ...groupTable(kinds)].join('\n');
}

/** The groups and versions of which documents of the Kubernetes form are accepted. */
function groupTable(kinds: readonly Kind[]): readonly string[] {
  const rows = Object.entries(apiGroups).map(([group, versions]) => {
    const of = kinds.filter((kind) => listGroups(kind).some((one) => one.group === group));
    const aliases = kinds.flatMap((kind) => kind.aliases.filter((alias) => listGroups(alias)[0]?.group === group));
    const isListed = (version: string): boolean => versions.some((one) => one === version);
    const named = [...of, ...aliases].map((kind) => {
      const own = listGroups(kind).flatMap((one) => (one.group === group ? one.versions : []));
      const more = own.filter((version) => !isListed(version));
      return more.length === 0 ? kind.name : `${kind.name} (also ${listed(more)})`;
    });
    const names = named.join(', ');
    return `| ${group === '' ? 'the core group' : `\`${group}\``} | ${listed(versions)} | ${names || 'the shipped policies'} |`;
  });
  return [
    '**Groups.** A document with `apiVersion` is read by group, version and kind; the group of another project is refused.',
    '',
    '| group | versions | kinds |',
    '| --- | --- | --- |',
    ...rows,
  ];
}

const writers: Readonly<Record<Kind['writer'], string>> = {
  owner: 'service-owner',
  operator: 'mesh-operator',
  admin: 'admin',
};

function writtenOn({ writtenOn: places, standalone }: Kind['sync']): string {
  if (places.length === 0) return 'control planes only';
  return standalone && !places.includes('zone') ? 'global, or a zone without a global' : places.join(', ');
}

function facts(kind: Kind): string[] {
  const path = kind.scope === 'mesh' ? `/meshes/{mesh}/${kind.plural}/{name}` : `/${kind.plural}/{name}`;
  return [
    `\`${path}\`, \`${kind.apiVersion}\`; at most ${(kind.bounds.bytes / 1024).toLocaleString('en-US')} KiB and ${kind.bounds.labels} labels`,
    ...kind.aliases.map(({ name, plural }) => `Also called ${name} (\`${plural}\`)`),
    `Sync: ${syncOf(kind.sync)}`,
    ...(kind.confidential ? ['Its values are never shown in lists or logs'] : []),
    ...(kind.serverOwned.length ? [`Set by the control plane: ${listed(kind.serverOwned)}`] : []),
    ...(kind.immutable.length ? [`Never changed after the resource is made: ${listed(kind.immutable)}`] : []),
    ...(kind.meshFrom === 'namespace' ? ['Its mesh is the one that selects its namespace'] : []),
  ];
}

const DOWN: Readonly<Record<Kind['sync']['down'], string>> = {
  nothing: 'the global sends none to zones',
  global: "the global's go to every zone",
  everything: 'every other zone gets them',
  exported: 'other zones get what its export rule allows',
  producers: 'other zones get what the owner of a service made for its clients',
};

function syncOf({ up, down, peers }: Kind['sync']): string {
  const other =
    peers === 'causeway' ? '; not to control planes of Kuma' : peers === 'kuma' ? '; between zones of Kuma' : '';
  return `${up ? 'a zone sends its own to the global' : 'a zone keeps its own'}; ${DOWN[down]}${other}`;
}

function fieldRows(schema: FieldSchema, at: string): string[] {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = at === '' ? name : `${at}.${name}`;
    const notes = [required.has(name) ? 'required' : '', defaultOf(field), ...boundsOf(field)].filter(
      (note) => note !== '',
    );
    return [`| \`${path}\` | ${formOf(field)} | ${notes.join('; ')} |`, ...below(field, path)];
  });
}

/** The rows of what a field contains: of an object, of the items of a list, of the values of a map, of each alternative. */
function below(schema: FieldSchema, path: string): string[] {
  return [
    ...fieldRows(schema, path),
    ...(schema.items ? below(schema.items, `${path}[]`) : []),
    ...Object.values(schema.patternProperties ?? {}).flatMap((value) => below(value, `${path}.KEY`)),
    ...(schema.anyOf ?? []).flatMap((one) => below(one, path)),
  ].filter((row, i, rows) => rows.indexOf(row) === i);
}

function formOf(schema: FieldSchema): string {
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum) return schema.enum.map(code).join(', ');
  if (schema.anyOf) return [...new Set(schema.anyOf.map(formOf))].join(' or ');
  if (schema.items) return `list of ${formOf(schema.items)}`;
  const [value] = Object.values(schema.patternProperties ?? {});
  if (value) return `map of ${formOf(value)}`;
  return schema.type ?? 'any';
}

function boundsOf(schema: FieldSchema): string[] {
  const of = (least: number | undefined, most: number | undefined, unit: string): string[] => {
    if (least === undefined && most === undefined) return [];
    if (most === undefined) return [`at least ${number(least ?? 0)}${unit}`];
    return [
      least === undefined || (least === 0 && unit !== '')
        ? `at most ${number(most)}${unit}`
        : `${number(least)} to ${number(most)}${unit}`,
    ];
  };
  return [
    ...of(schema.minimum, schema.maximum, ''),
    ...of(schema.minLength, schema.maxLength, ' characters'),
    ...of(schema.minItems, schema.maxItems, ' items'),
    ...of(schema.minProperties, schema.maxProperties, ' entries'),
    ...patternOf(schema.pattern),
    ...(schema.anyOf ?? []).flatMap(boundsOf),
  ].filter((bound, i, bounds) => bounds.indexOf(bound) === i);
}

/** Long patterns only hide the other bounds; `/openapi.json` has them. */
function patternOf(pattern: string | undefined): string[] {
  if (pattern === undefined) return [];
  return [pattern.length > LONGEST_PATTERN ? 'a pattern of `/openapi.json`' : `matches ${code(pattern)}`];
}

function defaultOf(schema: FieldSchema): string {
  return schema.default === undefined ? '' : `default ${code(JSON.stringify(schema.default))}`;
}

function example(kind: Kind): string[] {
  const schema: FieldSchema = kind.spec;
  const [spec] = schema.examples ?? [];
  if (spec === undefined) return [];
  const document = {
    type: kind.name,
    ...(kind.scope === 'mesh' && kind.meshFrom === 'user' ? { mesh: 'default' } : {}),
    name: 'example',
    spec,
  };
  return ['', '```yaml', stringify(document, { lineWidth: 110, flowCollectionPadding: true }).trimEnd(), '```'];
}

function listed(fields: readonly string[]): string {
  return fields.map(code).join(', ');
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}

/** In a cell of a table a pipe would end the cell. */
function code(value: unknown): string {
  return `\`${String(value).replaceAll('|', '\\|')}\``;
}
