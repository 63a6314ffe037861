import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { decode, encode, type Answer, type DecodedPacket, type RecordClass, type RecordType } from 'dns-packet';

/** One question and how it is to be asked. */
export interface Asking {
  readonly name: string;
  readonly type?: RecordType;
  readonly class?: RecordClass;
  readonly tcp?: boolean;
  /** EDNS with this UDP size; none without. */
  readonly edns?: number;
  readonly dnssec?: boolean;
  readonly recursion?: boolean;
}

/** An answer of DNS in words. */
export interface Reply {
  readonly rcode: string;
  readonly packet: DecodedPacket;
  readonly raw: Buffer;
  /** `type data` of the answers. */
  readonly answers: string[];
}

const RECURSION_DESIRED = 0x0100;

/** The octets of a question, under id 4711. */
export function question(asking: Asking): Buffer {
  const { name, type = 'A', edns, dnssec = false, recursion = true } = asking;
  const opt = {
    type: 'OPT' as const,
    name: '.',
    udpPayloadSize: edns ?? 0,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: dnssec ? 0x8000 : 0,
    flag_do: dnssec,
    options: [],
  };
  return encode({
    type: 'query',
    id: 4711,
    flags: recursion ? RECURSION_DESIRED : 0,
    questions: [{ name, type, class: asking.class ?? 'IN' }],
    ...(edns === undefined ? {} : { additionals: [opt] }),
  });
}

/** Asks a server on 127.0.0.1 and waits for its answer, as long as the test may last. */
export async function ask(port: number, asking: Asking): Promise<Reply> {
  return read(await (asking.tcp ? sendTcp(port, question(asking)) : sendUdp(port, question(asking))));
}

export function read(raw: Buffer): Reply {
  const packet = decode(raw);
  return { rcode: rcodeOf(raw), packet, raw, answers: (packet.answers ?? []).map(shown) };
}

/** Sends octets in one datagram; resolves to the answer. */
export function sendUdp(port: number, packet: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = createSocket('udp4');
    socket.on('error', reject);
    socket.on('message', (answer) => {
      socket.close();
      resolve(answer);
    });
    socket.send(packet, port, '127.0.0.1');
  });
}

/** Sends octets over a connection of their own; rejects when it is closed without an answer. */
export function sendTcp(port: number, packet: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let held = Buffer.alloc(0);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed without an answer')));
    socket.on('connect', () =>
      socket.write(Buffer.concat([Buffer.from([packet.length >> 8, packet.length & 255]), packet])),
    );
    socket.on('data', (chunk) => {
      held = Buffer.concat([held, chunk]);
      if (held.length < 2 || held.length < 2 + held.readUInt16BE(0)) return;
      resolve(held.subarray(2, 2 + held.readUInt16BE(0)));
      socket.destroy();
    });
  });
}

const RCODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'];

function rcodeOf(raw: Buffer): string {
  const code = raw.readUInt8(3) & 15;
  return RCODES[code] ?? (code === 9 ? 'NOTAUTH' : `RCODE${code}`);
}

function shown(answer: Answer): string {
  switch (answer.type) {
    case 'A':
    case 'AAAA':
    case 'NS':
    case 'PTR':
      return `${answer.type} ${answer.data}`;
    case 'SRV':
      return `SRV ${answer.data.port} ${answer.data.target}`;
    case 'TXT':
      return `TXT ${[answer.data].flat().join(' ')}`;
    case 'SOA':
      return `SOA ${answer.data.mname} ${answer.data.rname}`;
    default:
      return answer.type;
  }
}
