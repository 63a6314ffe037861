import { MAX_BACKUP_LINE } from './backup-format';

/**
 * The lines of a text that comes in pieces, without their ends. Of a line that is longer than a backup may have, so much is
 * yielded that its reader refuses it: a file of one endless line takes no memory.
 */
export async function* backupLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let skipping = false;
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!skipping) yield line;
      skipping = false;
    }
    if (rest.length <= MAX_BACKUP_LINE) continue;
    if (!skipping) yield rest;
    [rest, skipping] = ['', true];
  }
  rest += decoder.decode();
  if (rest !== '' && !skipping) yield rest;
}
