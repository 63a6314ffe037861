import {
  adoptZone as bindZone,
  confirmGlobal as acceptGlobal,
  confirmZone as acceptZone,
  resetZoneEpoch,
  type Confirmation,
} from '@causeway/api';
import { isJsonArray, isJsonObject, type JsonObject } from '@causeway/resources';
import { requireKind, UsageError, type CommandContext } from '../../context';
import { inLines, objectAt, textAt } from '../../render';
import type { Command } from 'commander';
import type { SetExitCode } from '../../options';

interface QuarantineOptions {
  readonly mesh?: string;
  readonly namespace?: string;
  readonly release?: boolean;
}

/** `causeway zones quarantine ZONE [KIND/NAME...]`: without resources the whole zone; `--release` ends the quarantine. */
async function quarantine(
  context: CommandContext,
  zone: string,
  names: readonly string[],
  options: QuarantineOptions,
): Promise<number> {
  const named = names.map((name) => parseEntry(context, name, options));
  const { document, etag } = await (await context.api()).get({ kind: 'Zone', name: zone });
  const spec = objectAt(document, 'spec');
  const { all = false, resources } = objectAt(spec, 'quarantine');
  const standing = isJsonArray(resources) ? resources.filter(isJsonObject) : [];
  const whole = named.length === 0;
  const others = whole && options.release ? [] : standing.filter((item) => !named.some((entry) => isSame(item, entry)));
  const next = {
    all: whole ? options.release !== true : all,
    resources: options.release ? others : [...others, ...named],
  };
  await writeZone(context, zone, { ...document, spec: { ...spec, quarantine: next } }, etag);
  const what = whole
    ? `zone ${zone}`
    : `${named.map((entry) => `${textAt(entry, 'type')} ${textAt(entry, 'name')}`).join(', ')} of zone ${zone}`;
  if (options.release) context.print(`${what} is released: what it has comes back`);
  else if (whole) context.print(`${what} is quarantined: it has no session, and no other zone has what is its own`);
  else context.print(`${what} is quarantined: deleted on the global and in the other zones, and not taken in again`);
  return 0;
}

/** Writes a Zone that was read with `etag`. */
async function writeZone(context: CommandContext, name: string, zone: JsonObject, etag: string): Promise<void> {
  await (await context.api()).replace({ kind: 'Zone', name }, zone, { etag });
}

/** Returns a resource in the form of the Zone's quarantine list. */
function parseEntry(context: CommandContext, given: string, { mesh, namespace }: QuarantineOptions): JsonObject {
  const slash = given.indexOf('/');
  const [noun, name] = [given.slice(0, slash), given.slice(slash + 1)];
  if (slash <= 0 || name === '')
    throw new UsageError(`"${given}" is no resource; write KIND/NAME, as in MeshService/redis`);
  const type = findType(context, noun);
  return { type, name, ...(mesh === undefined ? {} : { mesh }), ...(namespace === undefined ? {} : { namespace }) };
}

/** Returns the kind of a noun, or the noun if it looks like a kind: only the global knows the kinds that it relays between Kuma zones. */
function findType({ registry }: CommandContext, noun: string): string {
  const known = registry.noun(noun.toLowerCase());
  return known?.name ?? (/^[A-Z][A-Za-z]+$/.test(noun) ? noun : requireKind(registry, noun).name);
}

function isSame(a: JsonObject, b: JsonObject): boolean {
  const part = (entry: JsonObject, key: string): string => textAt(entry, key) || 'default';
  return ['type', 'name', 'mesh', 'namespace'].every((key) => part(a, key) === part(b, key));
}

/** `causeway zones confirm ZONE`, on the global. */
async function confirmZone(context: CommandContext, zone: string): Promise<number> {
  const answer = await (await context.api()).rest.call(acceptZone, { path: { name: zone } });
  return printConfirmation(context, `zone ${zone}`, answer);
}

/** `causeway zones confirm-global`, on a zone. */
async function confirmGlobal(context: CommandContext): Promise<number> {
  return printConfirmation(context, 'the global', await (await context.api()).rest.call(acceptGlobal));
}

/** `causeway zones adopt ZONE [STORE]`, on the global. */
async function adoptZone(context: CommandContext, zone: string, storeId: string | undefined): Promise<number> {
  const order = { path: { name: zone }, body: storeId === undefined ? {} : { storeId } };
  const { storeId: bound, formerly } = inLines(await (await context.api()).rest.call(bindZone, order));
  if (bound === formerly && bound !== '') context.print(`zone ${zone} belongs to store ${bound} already`);
  else if (bound === '') context.print(`zone ${zone} belongs to the store that comes next`);
  else context.print(`zone ${zone} belongs to store ${bound} now`);
  if (formerly !== '' && formerly !== bound) {
    context.printError(`before to ${formerly}; to take it back: causeway zones adopt ${zone} ${formerly}`);
  }
  return 0;
}

/** `causeway zones reset-epoch ZONE`, on the global. */
async function resetEpoch(context: CommandContext, zone: string): Promise<number> {
  const { formerly } = await (await context.api()).rest.call(resetZoneEpoch, { path: { name: zone } });
  const before = formerly === undefined ? '' : ` (it was ${formerly})`;
  context.print(`the epoch of zone ${zone} is forgotten${before}: the next leader that comes is taken`);
  return 0;
}

function printConfirmation(context: CommandContext, who: string, answer: Confirmation): number {
  const { confirmed, since = '' } = inLines(answer);
  if (confirmed)
    context.print(`the new incarnation of ${who}, first seen ${since}, is accepted: what it lacks is deleted`);
  else context.print(`${who} has no new incarnation to confirm`);
  return 0;
}

/** `causeway zones enable ZONE` and `causeway zones disable ZONE`, on the global. */
async function setEnabled(context: CommandContext, zone: string, enabled: boolean): Promise<number> {
  const { document, etag } = await (await context.api()).get({ kind: 'Zone', name: zone });
  const spec = objectAt(document, 'spec');
  const state = enabled ? 'enabled' : 'disabled';
  if ((textAt(spec, 'enabled') || 'true') === String(enabled)) {
    context.print(`zone ${zone} is ${state} already`);
    return 0;
  }
  await writeZone(context, zone, { ...document, spec: { ...spec, enabled } }, etag);
  const effect = enabled ? 'the other zones get its services again' : 'the other zones no longer have its services';
  context.print(`zone ${zone} is ${state}: ${effect}`);
  return 0;
}

/** Registers the subcommands of `causeway zones` that are decisions of an operator. */
export function registerZoneDecisions(command: Command, context: CommandContext, finish: SetExitCode): void {
  for (const [word, enabled] of [['enable', true] as const, ['disable', false] as const]) {
    command
      .command(word)
      .description(
        `${enabled ? 'lets the services of a zone into' : 'takes the services of a zone away from'} the other zones (on the global)`,
      )
      .argument('<name>', 'the zone')
      .action(async (name: string) => finish(await setEnabled(context, name, enabled)));
  }
  command
    .command('confirm')
    .description('accepts the new incarnation of a zone: what it lacks is deleted (on the global)')
    .argument('<name>', 'the zone')
    .action(async (name: string) => finish(await confirmZone(context, name)));
  command
    .command('confirm-global')
    .description('accepts the new incarnation of the global: what it lacks is deleted (on a zone)')
    .action(async () => finish(await confirmGlobal(context)));
  command
    .command('adopt')
    .description('binds the name of a zone to another store (on the global)')
    .argument('<name>', 'the zone')
    .argument('[store]', 'id of the store; else the one refused last')
    .action(async (name: string, store: string | undefined) => finish(await adoptZone(context, name, store)));
  command
    .command('reset-epoch')
    .description('takes the next leader of a zone whatever its epoch; its session ends (on the global)')
    .argument('<name>', 'the zone')
    .action(async (name: string) => finish(await resetEpoch(context, name)));
  command
    .command('quarantine')
    .description('keeps a zone, or some of its resources, away from the mesh (on the global)')
    .argument('<name>', 'the zone')
    .argument('[resources...]', 'as KIND/NAME; none: the whole zone')
    .option('-m, --mesh <mesh>', 'the mesh of the resources; default: default')
    .option('-n, --namespace <namespace>', 'their namespace; default: default')
    .option('--release', 'lets them in again; without resources the zone and all that was named')
    .action(async (name: string, resources: string[], options: QuarantineOptions) =>
      finish(await quarantine(context, name, resources, options)),
    );
}
