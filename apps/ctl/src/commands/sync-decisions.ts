import { isJsonObject } from '@causeway/resources';
import type { CommandContext } from '../context';
import { textAt } from '../render';

/** `causeway zones confirm ZONE`, on the global. */
export async function confirmZone(context: CommandContext, zone: string): Promise<number> {
  return confirm(context, `zone ${zone}`, `/zones/${encodeURIComponent(zone)}/_confirm`);
}

/** `causeway zones confirm-global`, on a zone. */
export async function confirmGlobal(context: CommandContext): Promise<number> {
  return confirm(context, 'the global', '/global/_confirm');
}

/** `causeway zones adopt ZONE [STORE]`, on the global. */
export async function adoptZone(context: CommandContext, zone: string, storeId: string | undefined): Promise<number> {
  const path = `/zones/${encodeURIComponent(zone)}/_adopt`;
  const { body } = await context.api().send({ method: 'POST', path, body: storeId === undefined ? {} : { storeId } });
  if (!isJsonObject(body)) return 1;
  const [bound, formerly] = [textAt(body, 'storeId'), textAt(body, 'formerly')];
  if (bound === formerly && bound !== '') context.print(`zone ${zone} belongs to store ${bound} already`);
  else if (bound === '') context.print(`zone ${zone} belongs to the store that comes next`);
  else context.print(`zone ${zone} belongs to store ${bound} now`);
  if (formerly !== '' && formerly !== bound) {
    context.complain(`before to ${formerly}; to take it back: causeway zones adopt ${zone} ${formerly}`);
  }
  return 0;
}

/** `causeway zones reset-epoch ZONE`, on the global. */
export async function resetEpoch(context: CommandContext, zone: string): Promise<number> {
  const path = `/zones/${encodeURIComponent(zone)}/_reset-epoch`;
  const { body } = await context.api().send({ method: 'POST', path });
  if (!isJsonObject(body)) return 1;
  const formerly = textAt(body, 'formerly');
  const before = formerly === '' ? '' : ` (it was ${formerly})`;
  context.print(`the epoch of zone ${zone} is forgotten${before}: the next leader that comes is taken`);
  return 0;
}

async function confirm(context: CommandContext, who: string, path: string): Promise<number> {
  const { body } = await context.api().send({ method: 'POST', path });
  if (!isJsonObject(body)) return 1;
  const { confirmed } = body;
  if (confirmed === true) {
    context.print(`the new life of ${who}, first seen ${textAt(body, 'since')}, is accepted: what it lacks is deleted`);
  } else context.print(`${who} has no new life to confirm`);
  return 0;
}
