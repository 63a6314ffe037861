import { ApiError } from '@causeway/api-client';
import type { JsonObject } from '@causeway/resources';
import { findKind, UsageError, type CommandContext } from '../../context';
import { listAt, objectAt, textAt } from '../../render';

/** Place of a resource, as options give it. */
export interface PlaceOptions {
  readonly mesh: string;
  readonly namespace?: string;
  readonly zone?: string;
}

/** Name of a resource in a path of REST: declared kinds are looked up at the control plane. */
export interface RestName {
  readonly path: string;
  readonly query: Readonly<Record<string, string | undefined>>;
}

/** The path of the one resource that words name: `KIND/NAME` or `KIND NAME`. Throws UsageError for other words. */
export async function restName(
  context: CommandContext,
  words: readonly string[],
  { mesh, namespace, zone }: PlaceOptions,
): Promise<RestName> {
  const [noun = '', name = '', more] = words.length === 1 ? (words[0] ?? '').split('/') : words;
  if (noun === '' || name === '' || more !== undefined) {
    throw new UsageError('name one resource as KIND/NAME or KIND NAME, as in meshservice/redis');
  }
  const { rest } = await context.api();
  const kind = await collectionOf(context, noun);
  const inMesh = kind.scope === 'mesh' ? `/meshes/${encodeURIComponent(mesh || (await rest.expectedMesh()))}` : '';
  return { path: `${inMesh}/${kind.plural}/${encodeURIComponent(name)}`, query: { namespace, zone } };
}

interface Collection {
  readonly plural: string;
  readonly scope: string;
}

async function collectionOf(context: CommandContext, noun: string): Promise<Collection> {
  const known = findKind(context.registry, noun);
  if (known) return known;
  const word = noun.toLowerCase();
  const { rest } = await context.api();
  const found = listAt(await rest.json({ path: '/_resources' }), 'resources').find((each) =>
    ['name', 'path', 'shortName'].some((key) => textAt(each, key).toLowerCase() === word),
  );
  if (!found) throw new ApiError('not-found', `"${noun}" is no kind of this control plane`);
  return { plural: textAt(found, 'path'), scope: textAt(found, 'scope').toLowerCase() };
}

/** `producer: Mesh default > Namespace baker > … > Rule baker cakes`; from the Namespace on, which says the rest. */
export function pathText(item: JsonObject): string {
  const nodes = listAt(item, 'path').filter((node) => textAt(node, 'level') !== 'Mesh');
  const context = textAt(item, 'context');
  const text = nodes.map(nodeText).join(' > ') || 'Mesh';
  return context === 'producer' || context === 'backend' ? text : `${context}: ${text}`;
}

function nodeText(node: JsonObject): string {
  const [level, name, section] = ['level', 'name', 'section'].map((key) => textAt(node, key));
  if (section) return `${level} ${section}`;
  return name ? `${level} ${name}` : (level ?? '');
}

/** `RetryPolicy baker/retries` */
export function policyText(policy: JsonObject, withKind = true): string {
  const name = ['namespace', 'name'].map((key) => textAt(policy, key)).join('/');
  return withKind ? `${textAt(policy, 'kind')} ${name}` : name;
}

/** The fields of an effective spec: the field, its value, the policy and the strategy of each. */
export function fieldRows(side: JsonObject): readonly (readonly string[])[] {
  return listAt(side, 'fields').map((field) => [
    textAt(field, 'field'),
    valueAt(objectAt(side, 'effective'), textAt(field, 'field')),
    policyText(objectAt(field, 'policy'), false),
    textAt(field, 'strategy'),
  ]);
}

/** Returns the value at a JSON pointer, as JSON. */
export function valueAt(spec: JsonObject, pointer: string): string {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = keys.pop() ?? '';
  return JSON.stringify(objectAt(spec, ...keys)[last]) ?? '';
}
