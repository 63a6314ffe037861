import { isJsonArray, isJsonObject, type JsonObject } from '@causeway/resources';
import { kindOf, UsageError, type CommandContext } from '../context';
import { objectAt, textAt } from '../render';

export interface QuarantineOptions {
  readonly mesh?: string;
  readonly namespace?: string;
  readonly release?: boolean;
}

/** `causeway zones quarantine ZONE [KIND/NAME...]`: the whole zone where nothing is named; `--release` takes it back. */
export async function quarantine(
  context: CommandContext,
  zone: string,
  names: readonly string[],
  options: QuarantineOptions,
): Promise<number> {
  const path = `/zones/${encodeURIComponent(zone)}`;
  const named = names.map((name) => entryOf(context, name, options));
  const { body } = await context.api().send({ method: 'GET', path });
  if (!isJsonObject(body)) return 1;
  const spec = objectAt(body, 'spec');
  const { all = false, resources } = objectAt(spec, 'quarantine');
  const standing = isJsonArray(resources) ? resources.filter(isJsonObject) : [];
  const whole = named.length === 0;
  const others = whole && options.release ? [] : standing.filter((item) => !named.some((entry) => isSame(item, entry)));
  const next = {
    all: whole ? options.release !== true : all,
    resources: options.release ? others : [...others, ...named],
  };
  await context.api().send({ method: 'PUT', path, body: { ...body, spec: { ...spec, quarantine: next } } });
  const what = whole
    ? `zone ${zone}`
    : `${named.map((entry) => `${textAt(entry, 'type')} ${textAt(entry, 'name')}`).join(', ')} of zone ${zone}`;
  if (options.release) context.print(`${what} is released: what it has comes back`);
  else if (whole) context.print(`${what} is quarantined: it has no session, and no other zone has what is its own`);
  else context.print(`${what} is quarantined: deleted on the global and in the other zones, and not taken in again`);
  return 0;
}

/** As a Zone names it; a kind that is not known here is named by its type. */
function entryOf(context: CommandContext, given: string, { mesh, namespace }: QuarantineOptions): JsonObject {
  const slash = given.indexOf('/');
  const [noun, name] = [given.slice(0, slash), given.slice(slash + 1)];
  if (slash <= 0 || name === '')
    throw new UsageError(`"${given}" is no resource; write KIND/NAME, as in MeshService/redis`);
  const type = typeOf(context, noun);
  return { type, name, ...(mesh === undefined ? {} : { mesh }), ...(namespace === undefined ? {} : { namespace }) };
}

/** Kinds that the global only passes on between Kuma zones are known to it alone. */
function typeOf({ registry }: CommandContext, noun: string): string {
  const known = registry.noun(noun.toLowerCase()) ?? registry.kinds.find(({ name }) => name === noun);
  return known?.name ?? (/^[A-Z][A-Za-z]+$/.test(noun) ? noun : kindOf(registry, noun).name);
}

function isSame(a: JsonObject, b: JsonObject): boolean {
  const part = (entry: JsonObject, key: string): string => textAt(entry, key) || 'default';
  return ['type', 'name', 'mesh', 'namespace'].every((key) => part(a, key) === part(b, key));
}
