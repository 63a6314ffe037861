import { isDeepStrictEqual } from 'node:util';
import type { Logger, Timer } from '@causeway/runtime';
import { AdsClientStream, UpdateQueue, type AdsClientStreamOptions } from './ads-client-stream';
import { ClientConnections } from './client-connections';
import type { AdsClientTls } from './client-credentials';
import { CONNECT_DEADLINE, ConnectRounds, type ConnectLimits } from './connect-rounds';
import { Subscriptions } from './subscriptions';

export interface AdsClientOptions extends AdsClientStreamOptions {
  /**
   * Returns the `host:port` of the control plane's replicas in the order in which they are tried. Called for each connection; if it returns none, the
   * earlier addresses are tried.
   */
  readonly addresses: () => readonly string[];
  /** Returns the authorities that verify the server and the client's credentials; plaintext if undefined. Called for each connection. */
  readonly tls: () => AdsClientTls | undefined;
  /** The connections that other streams of the same proxy share; absent: connections of its own. */
  readonly connections?: ClientConnections;
  readonly logger: Logger;
  readonly limits?: Partial<ConnectLimits>;
}

const DEFAULT_LIMITS: ConnectLimits = { deadline: CONNECT_DEADLINE, pause: { base: 100, cap: 10_000 } };

/** The state of the connection to the control plane. */
export type AdsClientState =
  | { readonly type: 'connected'; readonly address: string; readonly since: number }
  | { readonly type: 'connecting'; readonly address: string; readonly failure?: string };

/**
 * A client of a control plane's delta discovery. Subscriptions survive broken connections: a new stream reports the held resources, so that only
 * changes since then are sent. Implements the agent's side of docs/reference/xds.md.
 */
export class AdsClient {
  private readonly connections: ClientConnections;
  private readonly rounds: ConnectRounds;
  private readonly subscriptions = new Subscriptions();
  private readonly listeners = new Set<(state: AdsClientState) => void>();
  private readonly queue = new UpdateQueue();
  private addresses: readonly string[];
  private stream: AdsClientStream | undefined;
  private pause: Timer | undefined;
  private isFlushing = false;
  private isClosed = false;
  private current: AdsClientState;

  constructor(private readonly options: AdsClientOptions) {
    this.addresses = options.addresses();
    const [address] = this.addresses;
    if (address === undefined) throw new RangeError('an AdsClient needs an address');
    this.connections = options.connections ?? new ClientConnections(options.clock);
    this.rounds = new ConnectRounds({ ...DEFAULT_LIMITS, ...options.limits });
    this.current = { type: 'connecting', address };
    this.open();
  }

  get state(): AdsClientState {
    return this.current;
  }

  /** Calls `listener` with each new state until the returned function is called. */
  onState(listener: (state: AdsClientState) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Subscribes to these names; `*` stands for the resources that the server lists for this proxy. */
  subscribe(type: string, names: readonly string[]): void {
    if (this.subscriptions.add(type, names)) this.flush();
  }

  unsubscribe(type: string, names: readonly string[]): void {
    if (this.subscriptions.delete(type, names)) this.flush();
  }

  /** Starts a new stream, because the node, the token or the certificate changed. */
  restart(): void {
    this.stream?.cancel();
  }

  /** Ends the stream. No update is processed afterwards. */
  close(): void {
    this.isClosed = true;
    this.pause?.cancel();
    this.stream?.cancel();
    this.stream = undefined;
  }

  private open(): void {
    const { logger, tls } = this.options;
    this.refreshAddresses();
    const address = this.rounds.next(this.addresses) ?? '';
    const connection = this.connections.use(address, tls());
    const stream = new AdsClientStream(connection, this.rounds.deadline, this.options, {
      queue: this.queue,
      connected: () => {
        this.become({ type: 'connected', address, since: this.options.clock.now() });
        logger.info('connected to the control plane', { address });
      },
      answered: () => this.rounds.answered(),
      ended: (failure) => this.ended(stream, address, failure),
    });
    this.stream = stream;
    this.subscriptions.restart();
    this.flush();
  }

  /** Reads the addresses again; if they changed, they are tried from the first on. */
  private refreshAddresses(): void {
    const addresses = this.options.addresses();
    if (addresses.length === 0 || isDeepStrictEqual(addresses, this.addresses)) return;
    this.addresses = addresses;
    this.rounds.restart();
  }

  private ended(stream: AdsClientStream, address: string, failure: string): void {
    if (this.isClosed || stream !== this.stream) return;
    this.stream = undefined;
    const { clock, logger } = this.options;
    const next = this.rounds.upcoming(this.addresses) ?? '';
    if (this.current.type === 'connected' || this.current.failure !== failure)
      logger.warn('no stream to the control plane', { address, reason: failure });
    this.become({ type: 'connecting', address: next, failure });
    this.pause = clock.after(this.rounds.failed(this.addresses), () => this.open());
  }

  private become(state: AdsClientState): void {
    this.current = state;
    for (const listener of this.listeners) listener(state);
  }

  /** Sends the changes of subscriptions of one turn in one request for each type. */
  private flush(): void {
    if (this.isFlushing) return;
    this.isFlushing = true;
    queueMicrotask(() => {
      this.isFlushing = false;
      if (!this.stream) return;
      for (const change of this.subscriptions.take()) this.stream.request(change);
    });
  }
}
