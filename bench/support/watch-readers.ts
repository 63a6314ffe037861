import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { connect } from 'node:net';
import { WatchRequest } from '@causeway/proto-gen';
import { ADMIN_HEADERS } from '../../test/support/admin-credential';

/**
 * Many watches of one resource in a process of their own: over gRPC on few connections, over REST on a connection each. It
 * searches the bytes for a mark and decodes nothing, so that readers, which share the machine with the server, cost little.
 */
export type ReadersOrder =
  | ({ readonly type: 'open'; readonly watched: string; readonly watchers: WatchersOf } & Addresses)
  /** A new version that contains this text will come. */
  | { readonly type: 'expect'; readonly mark: string };

/** URLs of both interfaces. */
interface Addresses {
  readonly grpc: string;
  readonly rest: string;
}

/** Number of watches for each interface. */
export interface WatchersOf {
  readonly grpc: number;
  readonly rest: number;
}

/** `opened` and `expecting` confirm orders; `seen`: the last reader has the mark. */
export type ReadersAnswer = { readonly type: 'opened' | 'expecting' | 'seen' };

/** Watches of one gRPC connection. */
const STREAMS = 50;

/** Watches of one address: the server has a bound for them. */
const OF_ONE_ADDRESS = 250;

let mark = Buffer.alloc(0);
let [readers, missing] = [0, 0];

function tell(type: ReadersAnswer['type']): void {
  process.send?.({ type } satisfies ReadersAnswer);
}

/** A reader of chunks; a mark may come in two of them. */
function reader(): (chunk: Buffer) => void {
  readers += 1;
  let seen = mark;
  let rest: Buffer | undefined;
  return (chunk) => {
    if (seen === mark) return;
    const text = rest ? Buffer.concat([rest, chunk]) : chunk;
    rest = text.includes(mark) ? undefined : text.subarray(-mark.length);
    if (rest) return;
    seen = mark;
    missing -= 1;
    if (missing === 0) tell('seen');
  };
}

function frame(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function watchGrpc(session: ClientHttp2Session, watched: string): Promise<void> {
  const call = session.request({
    ':method': 'POST',
    ':path': '/causeway.v1.ResourceService/Watch',
    'content-type': 'application/grpc',
    te: 'trailers',
    ...ADMIN_HEADERS,
  });
  const selection = { kind: 'MeshService', mesh: 'default', nameContains: watched };
  call.end(frame(WatchRequest.encode(WatchRequest.fromPartial({ selection })).finish()));
  call.on('data', reader());
  return new Promise((resolve, reject) => call.once('response', () => resolve()).once('error', reject));
}

function watchRest({ hostname, port, host }: URL, localAddress: string, watched: string): Promise<void> {
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  socket.write(
    `GET /meshes/default/meshservices?watch=true&name=${watched} HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${ADMIN_HEADERS.authorization}\r\n\r\n`,
  );
  socket.on('data', reader());
  return new Promise((resolve, reject) => socket.once('data', () => resolve()).once('error', reject));
}

async function open({ grpc, rest, watched, watchers }: Extract<ReadersOrder, { type: 'open' }>): Promise<void> {
  const address = (n: number): string => `127.0.0.${2 + Math.floor(n / OF_ONE_ADDRESS)}`;
  let session: ClientHttp2Session | undefined;
  for (let n = 0; n < watchers.grpc; n++) {
    if (n % STREAMS === 0) {
      const { hostname, port } = new URL(grpc);
      const createConnection = () => connect({ host: hostname, port: Number(port), localAddress: address(n) });
      session = connectHttp2(`http://${hostname}:${port}`, { createConnection });
    }
    if (session) await watchGrpc(session, watched);
  }
  for (let n = 0; n < watchers.rest; n++) await watchRest(new URL(rest), address(n), watched);
}

async function obey(order: ReadersOrder): Promise<void> {
  if (order.type === 'open') await open(order);
  else [mark, missing] = [Buffer.from(order.mark), readers];
  tell(order.type === 'open' ? 'opened' : 'expecting');
}

process.on('message', (order: ReadersOrder) => {
  obey(order).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
process.once('disconnect', () => process.exit());
