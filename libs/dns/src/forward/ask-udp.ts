import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Clock } from '@causeway/runtime';
import type { UpstreamAddress } from './upstream-address';
import { answersQuery, type UpstreamQuery } from './upstream-query';

/** How long to wait, by whose time. */
export interface QueryTimeout {
  readonly clock: Clock;
  /** ms */
  readonly timeout: number;
}

/**
 * Asks over UDP, from a socket made for this one question: its port is the system's random choice, and being connected
 * it hears this upstream only. What does not answer the query is passed over. Rejects after the timeout, or as soon as
 * the system says that nobody listens there.
 */
export function askUdp(upstream: UpstreamAddress, query: UpstreamQuery, patience: QueryTimeout): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(upstream.address) ? 'udp6' : 'udp4');
    const done = (settle: () => void): void => {
      timer.cancel();
      socket.removeAllListeners().on('error', () => undefined);
      socket.close();
      settle();
    };
    const timer = patience.clock.after(patience.timeout, () =>
      done(() => reject(new Error(`no answer within ${patience.timeout} ms`))),
    );
    socket.on('error', (error) => done(() => reject(error)));
    socket.on('message', (answer) => {
      if (answersQuery(answer, query)) done(() => resolve(answer));
    });
    socket.on('connect', () => socket.send(query.packet));
    socket.connect(upstream.port, upstream.address);
  });
}
