import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, connect, type Server } from 'node:net';
import { type NetworkNamespace } from './network-namespace';

/** Listens at each `address,port,answer`, and answers all who connect. */
const SERVE = `
const net = require('node:net');
const all = process.argv.slice(1).map((one) => one.split(','));
let left = all.length;
for (const [address, port, answer] of all)
  net.createServer((socket) => { socket.on('error', () => {}); socket.end(answer + ' to ' + socket.localAddress); })
    .listen(+port, address, () => { if (--left === 0) console.log('serving'); });
`;

/** For each line of addresses, `address,port …`: dials each, and prints what each answered, or why none did. */
const DIAL = `
const net = require('node:net');
const dial = (one) => new Promise((done) => {
  const [host, port] = one.split(',');
  let text = '';
  const socket = net.connect({ host, port: +port }).setTimeout(5000, () => { socket.destroy(); done('no answer'); });
  socket.on('data', (data) => (text += data)).on('end', () => done(text)).on('error', (error) => done(error.code));
});
require('node:readline').createInterface(process.stdin).on('line', async (line) =>
  console.log(JSON.stringify(await Promise.all(line.split(' ').map(dial)))));
console.log('ready');
`;

/** Passes connections to a port of loopback on to a unix socket. */
const RELAY = `
const net = require('node:net');
const [port, path] = process.argv.slice(1);
net.createServer((socket) => {
  const other = net.connect(path);
  for (const each of [socket, other]) each.on('error', () => { socket.destroy(); other.destroy(); });
  socket.pipe(other).pipe(socket);
}).listen(+port, '127.0.0.1', () => console.log('serving'));
`;

const dialers = new Map<NetworkNamespace, ChildProcess>();

/** Starts a process that listens at each `address,port,answer`; it answers each connection with `ANSWER to ADDRESS`. */
export function serveIn(namespace: NetworkNamespace, ...places: readonly string[]): Promise<ChildProcess> {
  return namespace.serve(SERVE, ...places);
}

/** Returns the answer at each `address,port`: a text, an error code such as ECONNREFUSED, or `no answer` after five seconds. */
export async function dialFrom(from: NetworkNamespace, ...addresses: readonly string[]): Promise<unknown> {
  const dialer = dialers.get(from) ?? (await from.serve(DIAL));
  dialers.set(from, dialer);
  const answer = once(dialer.stdout ?? dialer, 'data');
  dialer.stdin?.write(`${addresses.join(' ')}\n`);
  return JSON.parse(String((await answer)[0]));
}

/**
 * Relays a unix socket, which programs in namespaces reach, to a port of loopback: no network of this host is touched. The caller closes the server.
 */
export async function relayTo(port: number, path: string): Promise<Server> {
  const server = createServer((socket) => {
    const other = connect(port, '127.0.0.1');
    const end = (): void => void [socket, other].forEach((each) => each.destroy());
    for (const each of [socket, other]) each.on('error', end);
    socket.pipe(other).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return server;
}

/** The other end of `relayTo`: in the namespace the port is at 127.0.0.1. */
export function relayIn(namespace: NetworkNamespace, port: number, path: string): Promise<ChildProcess> {
  return namespace.serve(RELAY, String(port), path);
}
