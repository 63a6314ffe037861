import type { Socket } from 'node:net';
import type { Clock } from '@causeway/runtime';
import type { Opening } from '../decode/chain-choice';
import type { Inspection } from '../decode/listeners';
import { inspect, MAX_HELLO_BYTES } from './client-hello';

const PLAIN: Opening = { isTls: false, serverName: '', alpn: [] };

/**
 * Looks at the first bytes of a connection, and puts them back. Undefined where the client has gone before them; `timeout` where they do
 * not come in time and the listener does not go on without.
 */
export function readOpening(socket: Socket, by: Inspection, clock: Clock): Promise<Opening | 'timeout' | undefined> {
  return new Promise((resolve) => {
    let seen: Buffer = Buffer.alloc(0);
    const timer = clock.after(by.timeout, () => done(by.continuesOnTimeout ? PLAIN : 'timeout'));
    const over = (): void => done(undefined);
    const more = (piece: Buffer): void => {
      seen = seen.length === 0 ? piece : Buffer.concat([seen, piece]);
      const found = inspect(seen);
      if (found.type === 'known') done(found.opening);
      else if (seen.length >= 2 * MAX_HELLO_BYTES) done(PLAIN);
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
