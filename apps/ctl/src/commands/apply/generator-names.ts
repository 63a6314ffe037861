import { isJsonObject, type JsonObject } from '@causeway/resources';
import { type CommandContext } from '../../context';
import { listAt, objectAt, serviceName, table, textAt } from '../../render';

/** Prints the answer to a dry run of a HostnameGenerator: its names, and the collisions that it would win and lose. */
export function printDryRunNames(context: CommandContext, answer: unknown): void {
  if (!isJsonObject(answer) || !('names' in answer)) {
    context.print('  --seen-from ZONE tells the names that it would make there');
    return;
  }
  const rows = listAt(answer, 'names').map((name) => [
    textAt(name, 'hostname'),
    textAt(name, 'mesh'),
    serviceName(name),
    textAt(name, 'status'),
    collision(name),
  ]);
  context.print(rows.length === 0 ? 'no names' : table(['HOSTNAME', 'MESH', 'SERVICE', 'STATUS', 'COLLISION'], rows));
  for (const each of listAt(answer, 'unnamed'))
    context.print(`no name for ${serviceName(each)}: ${textAt(each, 'reason')}`);
  for (const each of listAt(answer, 'dropped'))
    context.print(`no longer ${textAt(each, 'hostname')} for ${serviceName(each)} (mesh ${textAt(each, 'mesh')})`);
}

function collision(name: JsonObject): string {
  const loser = objectAt(name, 'takesFrom');
  if (Object.keys(loser).length === 0) return textAt(name, 'reason');
  return `won from ${serviceName(loser)}, which then shows: ${textAt(loser, 'reason')}`;
}
