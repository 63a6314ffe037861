import { EventEmitter } from 'node:events';
import { Http2Streams } from '@causeway/grpc-server';
import { errorText } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { Metadata } from '@grpc/grpc-js';
import { StreamWriter, type ByteStreamCall } from './stream-writer';

/** The server's end of a call whose reader takes a message when the test allows it. */
class PacedCall extends EventEmitter implements ByteStreamCall {
  readonly metadata = new Metadata();
  private readonly taken: (() => void)[] = [];
  sendMetadata(): void {}
  write(_: Buffer, done: () => void): boolean {
    this.taken.push(done);
    return true;
  }
  read(): void {
    this.taken.shift()?.();
  }
  end(): void {}
}

const MESSAGE = Buffer.alloc(100_000);

describe('StreamWriter.send', () => {
  const open = () => {
    const [call, clock] = [new PacedCall(), new FakeClock(0)];
    const parts = { streams: new Http2Streams(clock), clock, errorOf: (error: unknown) => Object(error) };
    return { call, clock, writer: new StreamWriter(call, parts, new AbortController().signal) };
  };
  const outcome = (sent: Promise<void>): Promise<string> => sent.then(() => 'sent', errorText);

  it('gives up a reader that takes nothing for 30 s', async () => {
    const { clock, writer } = open();
    const sent = outcome(writer.send(MESSAGE));
    clock.advance(30_000);
    expect(await sent).toBe('the client did not read for 30 s');
  });

  it('gives up a reader that takes a little each time, when the time for all is over', async () => {
    const { call, clock, writer } = open();
    writer.limit(60_000);
    const outcomes: string[] = [];
    for (let i = 0; i < 3; i++) {
      const sent = outcome(writer.send(MESSAGE));
      clock.advance(25_000);
      call.read();
      outcomes.push(await sent);
    }
    expect(outcomes).toEqual(['sent', 'sent', 'the client read too slowly']);
  });
});
