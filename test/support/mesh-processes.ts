import { once } from 'node:events';
import { createServer as createHttpServer, request, type IncomingHttpHeaders } from 'node:http';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import {
  connect as connectTls,
  createSecureContext,
  type ConnectionOptions,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';

/** A process of a service on loopback: its address, and a function that ends it. */
export interface ServiceProcess {
  readonly port: number;
  /** Connections that it has taken so far. */
  readonly accepted: () => number;
  /** Ends it and its connections at once, as a killed process does. */
  stop(): Promise<void>;
}

async function listening(server: Server, host: string, port: number): Promise<ServiceProcess> {
  const open = new Set<Socket>();
  let accepted = 0;
  server.on('connection', (socket) => {
    accepted += 1;
    open.add(socket.on('close', () => open.delete(socket)).on('error', () => undefined));
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    stop: async () => {
      const closed = new Promise((done) => server.close(done));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** Answers every piece of bytes with `<name>:<piece>`. */
export function echo(name: string, host = '127.0.0.1', port = 0): Promise<ServiceProcess> {
  const server = createServer((socket) => socket.on('data', (part) => socket.write(`${name}:${part.toString()}`)));
  return listening(server, host, port);
}

/** As `echo`, behind TLS, in place of a proxy of the mesh or a server outside it. It answers with the server name of the handshake. */
export function tlsEcho(name: string, options: TlsOptions, host: string, port = 0): Promise<ServiceProcess> {
  const server = createTlsServer(options, (socket) => {
    const asked = typeof socket.servername === 'string' ? socket.servername : '';
    socket.on('data', (part) => socket.write(`${name}(${asked}):${part.toString()}`)).on('error', () => undefined);
  });
  return listening(server, host, port);
}

/** Answers every request with its name and the headers of the request, as JSON. */
export function httpService(name: string, host = '127.0.0.1', port = 0): Promise<ServiceProcess> {
  const server = createHttpServer(({ headers, url }, answer) => {
    answer.setHeader('content-type', 'application/json').end(JSON.stringify({ name, url, headers }));
  });
  return listening(server, host, port);
}

/** Returns the answer to `text`; empty if the connection is refused, closed or reset before a byte came. */
export function say(address: string, port: number, text = 'hello'): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, address, () => socket.write(text));
    socket.on('data', (part) => {
      resolve(part.toString());
      socket.destroy();
    });
    socket.on('error', () => undefined).on('close', () => resolve(''));
  });
}

/** TLS contexts of clients by their material: reading certificate and key costs as much as a handshake. */
const contexts = new Map<string, SecureContext>();
/** Most contexts that are kept: other test files have other certificates. */
const MAX_CONTEXTS = 100;

/** Returns the context of a client that shows this certificate. */
function clientContext({ ca, cert, key }: ConnectionOptions): SecureContext {
  const source = JSON.stringify([ca, cert, key]);
  const context = contexts.get(source) ?? createSecureContext({ ca, cert, key });
  if (contexts.size >= MAX_CONTEXTS) contexts.clear();
  contexts.set(source, context);
  return context;
}

/** Returns the options of a client that believes every server. */
export function tlsClient<T extends ConnectionOptions>(options: T) {
  return { rejectUnauthorized: false, secureContext: clientContext(options), ...options };
}

/** Returns what a server sends to a TLS client; empty if the connection ends before. */
export function sayTls(options: ConnectionOptions, text = 'hello'): Promise<string> {
  return new Promise((resolve) => {
    const socket = connectTls(tlsClient(options), () => socket.write(text));
    socket.on('data', (part) => {
      resolve(part.toString());
      socket.destroy();
    });
    socket.on('error', () => undefined).on('close', () => resolve(''));
  });
}

/** Opens a TLS connection from a source address that stays open after its handshake; resolves with undefined if it ends before. */
export function holdTls(
  localAddress: string,
  { host, port, ...options }: ConnectionOptions & { readonly host: string; readonly port: number },
): Promise<TLSSocket | undefined> {
  return new Promise((resolve) => {
    const socket = connectTls({ ...tlsClient(options), socket: connect({ host, port, localAddress }) });
    socket.on('secureConnect', () => resolve(socket));
    socket.on('error', () => undefined).on('close', () => resolve(undefined));
  });
}

export interface HttpAnswer {
  readonly status: number;
  /** Name of the process that answered; the text of the answer if no process did. */
  readonly name: string;
  readonly headers: IncomingHttpHeaders;
}

/** Sends one request on a new connection, a GET unless `method:` is given; status 0 if it ends without an answer. */
export function ask(
  address: string,
  port: number,
  path = '/',
  { 'method:': method = 'GET', ...headers }: Record<string, string> = {},
): Promise<HttpAnswer> {
  return new Promise((resolve) => {
    const options = { host: address, port, path, method, headers: { connection: 'close', ...headers }, agent: false };
    const sent = request(options, (answer) => {
      let text = '';
      answer.on('data', (part: Buffer) => (text += part.toString()));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, ...bodyOf(text) }));
    });
    sent.on('error', () => resolve({ status: 0, name: '', headers: {} })).end();
  });
}

function bodyOf(text: string): Omit<HttpAnswer, 'status'> {
  try {
    return JSON.parse(text) as Omit<HttpAnswer, 'status'>;
  } catch {
    return { name: text, headers: {} };
  }
}
