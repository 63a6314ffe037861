import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import type { Clock } from '@causeway/runtime';
import { FrameReader, frameMessage } from '../wire/tcp-frames';
import type { UpstreamAddress } from './upstream-address';
import { answersQuery, type UpstreamQuery } from './upstream-messages';

/** Timeout of a query to an upstream, and its clock. */
export interface QueryTimeout {
  readonly clock: Clock;
  /** In ms. */
  readonly timeout: number;
}

/**
 * Sends a query over UDP from a new socket: its port is random, and because it is connected it receives from this
 * upstream only. Ignores packets that do not answer the query. Rejects after the timeout, or as soon as the system
 * reports a closed port.
 */
export function askUdp(upstream: UpstreamAddress, query: UpstreamQuery, limit: QueryTimeout): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(upstream.address) ? 'udp6' : 'udp4');
    const done = (settle: () => void): void => {
      timer.cancel();
      socket.removeAllListeners().on('error', () => undefined);
      socket.close();
      settle();
    };
    const timer = limit.clock.after(limit.timeout, () => done(() => reject(noAnswer(limit))));
    socket.on('error', (error) => done(() => reject(error)));
    socket.on('message', (answer) => {
      if (answersQuery(answer, query)) done(() => resolve(answer));
    });
    socket.on('connect', () => socket.send(query.packet));
    socket.connect(upstream.port, upstream.address);
  });
}

/** Sends a query over TCP on a new connection. Rejects after the timeout or if the connection fails. */
export function askTcp(upstream: UpstreamAddress, query: UpstreamQuery, limit: QueryTimeout): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: upstream.address, port: upstream.port, noDelay: true });
    const reader = new FrameReader();
    const done = (settle: () => void): void => {
      timer.cancel();
      socket.removeAllListeners().on('error', () => undefined);
      socket.destroy();
      settle();
    };
    const timer = limit.clock.after(limit.timeout, () => done(() => reject(noAnswer(limit))));
    socket.on('error', (error) => done(() => reject(error)));
    socket.on('close', () => done(() => reject(new Error('the connection was closed without an answer'))));
    socket.on('connect', () => socket.write(frameMessage(query.packet)));
    socket.on('data', (chunk: Buffer) => {
      const answer = reader.read(chunk).find((each) => answersQuery(each, query));
      if (answer) done(() => resolve(answer));
    });
  });
}

function noAnswer({ timeout }: QueryTimeout): Error {
  return new Error(`no answer within ${timeout} ms`);
}
