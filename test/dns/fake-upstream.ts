import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { AUTHORITATIVE_ANSWER, decode, encode, type Answer, type Question } from 'dns-packet';

/** A query that an upstream of the test got. */
export interface Heard {
  readonly id: number;
  readonly port: number;
  readonly question: Question;
  readonly tcp: boolean;
  readonly packet: Buffer;
}

/** The packets with which it answers; none = it is silent. */
export type Behaviour = (heard: Heard) => readonly Buffer[];

/** Returns an answer to a received query: these records, flags and a response code. */
export function answerTo(heard: Heard, records: readonly Answer[], flags = 0): Buffer {
  return encode({
    type: 'response',
    id: heard.id,
    flags: AUTHORITATIVE_ANSWER | flags,
    questions: [heard.question],
    answers: [...records],
  });
}

/** Returns an A record for the queried name. */
export function a(heard: Heard, data = '192.0.2.1'): Answer {
  return { type: 'A', name: heard.question.name, ttl: 60, data };
}

const TRIES_FOR_A_FREE_PORT = 20;

/** A resolver of the test on 127.0.0.1, over UDP and TCP at one port. */
export class FakeUpstream {
  readonly heard: Heard[] = [];
  behaviour: Behaviour = (heard) => [answerTo(heard, [a(heard)])];
  port = 0;
  private tcp: Server | undefined;
  private udp: Socket | undefined;

  /** Takes a port that is free for both transports. */
  async start(): Promise<this> {
    for (let tries = 1; !(await this.listen(tries === TRIES_FOR_A_FREE_PORT)); tries++) await this.close();
    return this;
  }

  /** False where the port of the one transport is taken for the other, which is an error on the last try. */
  private async listen(isLast: boolean): Promise<boolean> {
    this.tcp = createServer((socket) => {
      let held = Buffer.alloc(0);
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        held = Buffer.concat([held, chunk]);
        if (held.length < 2 || held.length < 2 + held.readUInt16BE(0)) return;
        for (const answer of this.take(held.subarray(2), { port: socket.remotePort ?? 0, tcp: true }))
          socket.write(Buffer.concat([Buffer.from([answer.length >> 8, answer.length & 255]), answer]));
      });
    });
    this.tcp.listen(0, '127.0.0.1');
    await once(this.tcp, 'listening');
    this.port = (this.tcp.address() as AddressInfo).port;
    const udp = createSocket('udp4');
    this.udp = udp;
    udp.on('message', (packet: Buffer, from: RemoteInfo) => {
      for (const answer of this.take(packet, { port: from.port, tcp: false }))
        udp.send(answer, from.port, from.address);
    });
    udp.bind(this.port, '127.0.0.1');
    try {
      await once(udp, 'listening');
    } catch (error) {
      if (isLast) throw error;
      return false;
    }
    return true;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    this.udp?.close();
    await new Promise((resolve) => this.tcp?.close(resolve));
  }

  private take(packet: Buffer, from: { readonly port: number; readonly tcp: boolean }): readonly Buffer[] {
    const { questions = [], id = 0 } = decode(packet);
    const [question = { type: 'A', name: '' }] = questions;
    const heard = { id, question, packet, ...from };
    this.heard.push(heard);
    return this.behaviour(heard);
  }
}
