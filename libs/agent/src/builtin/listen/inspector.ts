import type { Socket } from 'node:net';
import type { Clock } from '@causeway/runtime';
import { PLAINTEXT_OPENING, type Opening } from '../decode/chain-choice';
import type { Inspection } from '../decode/listeners';
import { parseOpening, MAX_HELLO_BYTES } from './client-hello';

/**
 * Reads the first bytes of a connection without consuming them. Undefined if the client disconnects before; `timeout`
 * if the bytes do not arrive in time and the listener does not continue on timeout.
 */
export function readOpening(socket: Socket, by: Inspection, clock: Clock): Promise<Opening | 'timeout' | undefined> {
  return new Promise((resolve) => {
    let seen: Buffer = Buffer.alloc(0);
    const timer = clock.after(by.timeout, () => done(by.continuesOnTimeout ? PLAINTEXT_OPENING : 'timeout'));
    const over = (): void => done(undefined);
    const more = (piece: Buffer): void => {
      seen = seen.length === 0 ? piece : Buffer.concat([seen, piece]);
      const found = parseOpening(seen);
      if (found.type === 'known') done(found.opening);
      else if (seen.length >= 2 * MAX_HELLO_BYTES) done(PLAINTEXT_OPENING);
    };
    socket.on('data', more).once('close', over).once('end', over);

    function done(opening: Opening | 'timeout' | undefined): void {
      timer.cancel();
      socket.pause().removeListener('data', more).removeListener('close', over).removeListener('end', over);
      if (seen.length > 0 && opening !== undefined) socket.unshift(seen);
      resolve(opening);
    }
  });
}
