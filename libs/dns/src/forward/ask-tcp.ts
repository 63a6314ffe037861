import { connect } from 'node:net';
import { FrameReader, frame } from '../wire/tcp-frames';
import type { QueryTimeout } from './ask-udp';
import type { UpstreamAddress } from './upstream-address';
import { answersQuery, type UpstreamQuery } from './upstream-query';

/** Asks over TCP, by a connection for this one question. Rejects after the timeout or when the connection fails. */
export function askTcp(upstream: UpstreamAddress, query: UpstreamQuery, patience: QueryTimeout): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: upstream.address, port: upstream.port, noDelay: true });
    const reader = new FrameReader();
    const done = (settle: () => void): void => {
      timer.cancel();
      socket.removeAllListeners().on('error', () => undefined);
      socket.destroy();
      settle();
    };
    const timer = patience.clock.after(patience.timeout, () =>
      done(() => reject(new Error(`no answer within ${patience.timeout} ms`))),
    );
    socket.on('error', (error) => done(() => reject(error)));
    socket.on('close', () => done(() => reject(new Error('the connection was closed without an answer'))));
    socket.on('connect', () => socket.write(frame(query.packet)));
    socket.on('data', (chunk: Buffer) => {
      const answer = reader.read(chunk).find((each) => answersQuery(each, query));
      if (answer) done(() => resolve(answer));
    });
  });
}
