import { listKinds, type EffectivePolicy, type PathNode, type PolicyName, type PolicyScope } from '@causeway/api';
import { ApiError } from '@causeway/api-client';
import type { Kind } from '@causeway/resources';
import { findKind, UsageError, type CommandContext } from '../../context';
import { objectAt } from '../../render';

/** The options that identify a resource besides its kind and name. */
export interface PlaceOptions {
  readonly mesh: string;
  readonly namespace?: string;
  readonly zone?: string;
}

/** One resource in a request. */
export interface RestName {
  readonly path: { readonly plural: string; readonly mesh?: string; readonly name: string };
  readonly query: { readonly namespace?: string | undefined; readonly zone?: string | undefined };
}

/** Parses a single resource: `KIND/NAME` or `KIND NAME`; declared kinds are looked up at the control plane. Throws UsageError for other words. */
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
  const { plural, scope } = await findCollection(context, noun);
  const place = scope === 'mesh' ? { mesh: mesh || (await rest.expectedMesh()) } : {};
  return { path: { plural, ...place, name }, query: { namespace, zone } };
}

async function findCollection(context: CommandContext, noun: string): Promise<Pick<Kind, 'plural' | 'scope'>> {
  const known = findKind(context.registry, noun);
  if (known) return known;
  const word = noun.toLowerCase();
  const { resources } = await (await context.api()).rest.call(listKinds);
  const found = resources.find((each) =>
    [each.name, each.path, each.shortName].some((one) => one?.toLowerCase() === word),
  );
  if (!found) throw new ApiError('not-found', `"${noun}" is no kind of this control plane`);
  return { plural: found.path, scope: found.scope === 'Mesh' ? 'mesh' : 'global' };
}

/** Formats `producer: Mesh default > Namespace baker > … > Rule baker cakes`, from the Namespace on, which implies the rest. */
export function pathText({ context, path }: Pick<PolicyScope, 'context' | 'path'>): string {
  const nodes = path.filter(({ level }) => level !== 'Mesh');
  const text = nodes.map(nodeText).join(' > ') || 'Mesh';
  return context === 'producer' || context === 'backend' ? text : `${context}: ${text}`;
}

function nodeText({ level, name, section }: PathNode): string {
  const part = section || name;
  return part ? `${level} ${part}` : level;
}

/** `RetryPolicy baker/retries` */
export function policyText({ kind, namespace, name }: Omit<PolicyName, 'group'>, withKind = true): string {
  return withKind ? `${kind} ${namespace}/${name}` : `${namespace}/${name}`;
}

/** Returns the fields of an effective spec: each with its value, policy and strategy. */
export function fieldRows({ fields, effective }: EffectivePolicy): readonly (readonly string[])[] {
  return fields.map(({ field, policy, strategy }) => [
    field,
    valueAt(effective, field),
    policyText(policy, false),
    strategy,
  ]);
}

/** Returns the value at a JSON pointer, as JSON. */
export function valueAt(spec: object, pointer: string): string {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = keys.pop() ?? '';
  return JSON.stringify(objectAt(spec, ...keys)[last]) ?? '';
}
