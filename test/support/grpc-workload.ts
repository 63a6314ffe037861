import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ChannelOptions,
  type UntypedServiceImplementation as Handlers,
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  status,
  type ServiceError,
} from '@grpc/grpc-js';
import { XdsChannelCredentials, XdsServer, XdsServerCredentials } from '@grpc/grpc-js-xds';
import type { EnvoyView } from '@causeway/xds-translation';
import type { TestCertificate } from './test-authority';
import type { TrafficPlane } from './traffic-plane';

const BOOTSTRAP = 'grpc.TEST_ONLY_DO_NOT_USE_IN_PROD.xds_bootstrap_config';
const asIs = (bytes: Buffer): Buffer => bytes;
const SAY = '/test.Echo/Say';
/** Never answered. */
const WAIT = '/test.Echo/Wait';
/** Answers UNAVAILABLE for as many attempts of a call as its header `x-fails` sets; then the answer has the number of attempts before it. */
const FAIL = '/test.Echo/Fail';
const unary = { requestStream: false, responseStream: false } as const;
const bytes = {
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
} as const;
/** Answered when the test releases it. */
const HOLD = '/test.Echo/Hold';
/** Methods of every server, by path. */
const METHODS = Object.fromEntries(
  [SAY, '/test.Echo/Shout', '/test.Other/Say', WAIT, FAIL, HOLD].map((path) => [path, { path, ...unary, ...bytes }]),
);
type Answer = (error: { readonly code: status } | null, answer?: Buffer) => void;
interface Received {
  readonly metadata: Metadata;
}

/** A call: of a method, with headers, with a deadline so many ms from now. */
export interface GrpcCall {
  readonly within?: number;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface WorkloadOptions {
  readonly node: string;
  readonly certificate: TestCertificate;
  /** PEM; grpc-js believes each of them for every id. */
  readonly authorities: readonly string[];
  readonly view?: Partial<EnvoyView>;
}

/** A program that uses gRPC without a proxy, by a bootstrap as text: its channels and servers. `stop` leaves nothing open. */
export class GrpcProgram {
  protected readonly ends: (() => void)[] = [];

  constructor(private readonly config: string) {}

  /**
   * Makes a channel to `xds:///target`, and returns a function that calls through it: it resolves with the name that the server answers, or the code
   * of the failure.
   */
  channel(target: string, options: ChannelOptions = {}): (call?: GrpcCall) => Promise<string> {
    const client = new Client(`xds:///${target}`, new XdsChannelCredentials(credentials.createInsecure()), {
      ...options,
      [BOOTSTRAP]: this.config,
    });
    this.ends.push(() => client.close());
    return (call) => callOn(client, call);
  }

  /** Serves at this address by xDS, and answers each call with `name`. */
  async serve(name: string, at: string): Promise<void> {
    const server = new XdsServer({ [BOOTSTRAP]: this.config });
    this.ends.push(() => server.forceShutdown());
    await bind(server, handlersOf(name), at, new XdsServerCredentials(ServerCredentials.createInsecure()));
  }

  stop(): void {
    for (const end of this.ends.splice(0)) end();
  }
}

/** One of a zone that has no programs: with its files. `stop` leaves nothing. */
export class GrpcWorkload extends GrpcProgram {
  constructor(plane: TrafficPlane, { node, certificate, authorities, view = {} }: WorkloadOptions) {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-grpc-'));
    const file = (name: string, text: string): string => {
      const path = join(folder, name);
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    };
    const files = {
      certificate_file: file('chain.pem', certificate.chain),
      private_key_file: file('key.pem', certificate.key),
      ca_certificate_file: file('ca.pem', authorities.join('')),
      refresh_interval: '1s',
    };
    const bootstrap = {
      xds_servers: [{ server_uri: `127.0.0.1:${plane.port}`, channel_creds: [{ type: 'insecure' }] }],
      node: { id: node, locality: { zone: plane.zone } },
      server_listener_resource_name_template: 'grpc/server?xds.resource.listening_address=%s',
      certificate_providers: { mesh: { plugin_name: 'file_watcher', config: files } },
    };
    super(JSON.stringify(bootstrap));
    this.ends.push(() => rmSync(folder, { recursive: true, force: true }));
    plane.views.set(node, { mesh: 'default', wire: 'grpc', listed: new Set(), ...view });
  }
}

/**
 * Unrefs timers that are made from now on: grpc-js-xds leaves an interval for each file watcher, and waits 15 minutes before it drops unused state.
 * Returns a function that undoes it.
 */
export function looseTimers(): () => void {
  const { setInterval: interval, setTimeout: timeout } = globalThis;
  globalThis.setInterval = (...args: Parameters<typeof interval>) => interval(...args).unref();
  globalThis.setTimeout = ((...args: Parameters<typeof timeout>) => timeout(...args).unref()) as typeof timeout;
  return () => void Object.assign(globalThis, { setInterval: interval, setTimeout: timeout });
}

/** Starts a gRPC server in plain text that answers each call with `name`. */
export async function plainGrpc(name: string): Promise<{ readonly port: number; stop(): void }> {
  const server = new Server();
  const port = await bind(server, handlersOf(name), '127.0.0.1:0', ServerCredentials.createInsecure());
  return { port, stop: () => server.forceShutdown() };
}

/** A gRPC server that does not know xDS, and holds calls of `/test.Echo/Hold`. */
export interface HoldingServer {
  /** Returns how many calls it holds. */
  readonly held: () => number;
  /** Answers the held calls. */
  release(): void;
  stop(): void;
}

/** Starts a gRPC server with mutual TLS that answers each call with `name`, in place of a server of the mesh or an ingress. */
export async function tlsGrpc(
  name: string,
  at: string,
  { chain, key }: TestCertificate,
  authority: string,
): Promise<HoldingServer> {
  const held = new Set<Answer>();
  const server = new Server();
  const pair = { cert_chain: Buffer.from(chain), private_key: Buffer.from(key) };
  const using = ServerCredentials.createSsl(Buffer.from(authority), [pair], true);
  await bind(server, handlersOf(name, held), at, using);
  const release = (): void => {
    for (const done of held) done(null, Buffer.from(name));
    held.clear();
  };
  return { held: () => held.size, release, stop: () => server.forceShutdown() };
}

/** A call in plain text to an address: the answer, or the code of its failure. */
export async function plainCall(at: string): Promise<string> {
  const client = new Client(at, credentials.createInsecure());
  const answer = await callOn(client);
  client.close();
  return answer;
}

function bind(server: Server, handlers: Handlers, at: string, using: ServerCredentials): Promise<number> {
  server.addService(METHODS, handlers);
  return new Promise((resolve, reject) =>
    server.bindAsync(at, using, (error, port) => (error ? reject(error) : resolve(port))),
  );
}

/** Answers `name`; calls of `HOLD` are put among the held ones. */
function handlersOf(name: string, held = new Set<Answer>()): Handlers {
  const echo = (_: unknown, done: Answer): void => done(null, Buffer.from(name));
  const fail = ({ metadata }: Received, done: Answer): void => {
    const [before = 0, fails = 0] = ['grpc-previous-rpc-attempts', 'x-fails'].map((each) => Number(metadata.get(each)));
    if (before < fails) done({ code: status.UNAVAILABLE });
    else done(null, Buffer.from(`${name} after ${before}`));
  };
  const hold = (_: unknown, done: Answer): void => void held.add(done);
  const handlers = Object.fromEntries(Object.keys(METHODS).map((path) => [path, echo]));
  return { ...handlers, [WAIT]: () => undefined, [FAIL]: fail, [HOLD]: hold };
}

function callOn(client: Client, { path = SAY, headers = {}, within = 30_000 }: GrpcCall = {}): Promise<string> {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return new Promise((resolve) => {
    const answered = (error: ServiceError | null, answer?: Buffer): void =>
      resolve(error ? (status[error.code] ?? 'UNKNOWN') : String(answer));
    const options = { deadline: Date.now() + within };
    client.makeUnaryRequest(path, asIs, asIs, Buffer.from('who?'), metadata, options, answered);
  });
}
