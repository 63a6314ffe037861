import { createServer, type Server, type Socket } from 'node:net';
import type { Clock, Timer } from '@causeway/runtime';
import type { DecodedFilterChain, DecodedListener } from '../decode/listeners';
import { ANONYMOUS_CALLER, type VerifiedCaller } from '../decode/verified-caller';
import { PLAINTEXT_OPENING, type Opening } from '../decode/chain-choice';
import { pickCluster, type WeightedCluster } from '../decode/routes';
import type { ClusterChoice, Forwarding } from '../decode/filters';
import type { PlaneStats, Stats } from '../stats';
import type { TlsContexts } from '../tls/tls-material';
import type { Upstream } from '../upstream/upstream';
import { readOpening } from './inspector';
import { SourceLimits } from './source-limits';
import { reset, splice, type Leg } from '../upstream/splice';
import { TlsTerminator } from './tls-terminator';
import type { YoungGarbage } from './young-garbage';

/** Finds the targets of connections. */
interface Destinations {
  /** Returns the cluster once its hosts are known; undefined if it does not exist. */
  findUpstream(cluster: string): Promise<Upstream | undefined>;
  /** Returns the clusters of a route configuration, by weight; empty if it does not exist. */
  listRouteClusters(routes: string): readonly WeightedCluster[];
  /** Returns the HTTP version of a cluster; undefined if it is plain TCP. */
  findHttpVersion(cluster: string): 1 | 2 | undefined;
}

/** Shared by the listeners of a dataplane. */
export interface ListenerTools {
  readonly clock: Clock;
  readonly contexts: TlsContexts;
  readonly stats: PlaneStats;
  readonly destinations: Destinations;
  /** Returns a number in [0, 1) for weighted choices. */
  readonly random: () => number;
  readonly connectionLimiter: ConnectionLimiter;
  readonly garbage: YoungGarbage;
  /** Grace period for connections of a removed chain, ms. */
  readonly drain: number;
  /** Share of each per-source limit that applies to this process, in (0, 1]. */
  readonly share: number;
}

/** Limits the number of open client connections of a dataplane. */
export class ConnectionLimiter {
  private open = 0;

  constructor(readonly max: number) {}

  get openCount(): number {
    return this.open;
  }

  enter(): boolean {
    if (this.open >= this.max) return false;
    this.open += 1;
    return true;
  }

  leave(): void {
    this.open -= 1;
  }
}

/** Connection of a client; its filter chain is known after its first bytes. */
interface AcceptedConnection {
  readonly socket: Socket;
  readonly closed: AbortController;
  /** Socket for reading and writing: the TLS socket if the connection uses TLS, else the TCP socket. */
  client: Socket;
  chain: DecodedFilterChain | undefined;
}

/** Time for which binding to an address in use is retried, ms. */
const LISTEN_TIMEOUT = 1_000;
const LISTEN_PAUSE = 50;

/** Accepts connections at one address and forwards each according to its filter chain. */
export class PlaneListener {
  private server: Server | undefined;
  private readonly connections = new Set<AcceptedConnection>();
  private readonly terminators = new Map<string, TlsTerminator>();
  private readonly limits = new Map<string, SourceLimits>();
  private readonly stats: Stats;
  private drains = new Set<Timer>();

  constructor(
    private plan: DecodedListener,
    private readonly tools: ListenerTools,
  ) {
    const { address, port } = plan.at;
    this.stats = tools.stats.getStats('listener', `${address.includes(':') ? `[${address}]` : address}_${port}`);
  }

  /** Starts listening; returns the reason if it cannot. */
  async listen(): Promise<string | undefined> {
    const until = this.tools.clock.elapsed() + LISTEN_TIMEOUT;
    for (;;) {
      const failure = await this.attempt();
      if (failure?.code !== 'EADDRINUSE' || this.tools.clock.elapsed() >= until) return failure?.message;
      await this.tools.clock.sleep(LISTEN_PAUSE);
    }
  }

  private attempt(): Promise<(Error & { readonly code?: string }) | undefined> {
    const { address: host, port } = this.plan.at;
    const server = createServer({ allowHalfOpen: true }, (socket) => void this.accept(socket));
    return new Promise((resolve) => {
      server.once('error', resolve);
      server.listen({ host, port, backlog: 1_024 }, () => {
        server.removeListener('error', resolve);
        server.on('error', () => undefined);
        this.server = server;
        resolve(undefined);
      });
    });
  }

  /** Applies a changed listener; connections of removed or changed chains close after the grace period. */
  update(plan: DecodedListener): void {
    this.plan = plan;
    const contents = new Set([...plan.chains.values()].map(({ content }) => content));
    for (const known of this.terminators.keys()) if (!contents.has(known)) this.terminators.delete(known);
    const left = [...this.connections].filter(({ chain }) => chain && !contents.has(chain.content));
    this.endAfter(left, this.tools.drain);
  }

  /** Stops accepting connections; closes the open ones after `drain` ms. */
  close(drain: number): void {
    this.server?.close();
    this.server = undefined;
    this.endAfter([...this.connections], drain);
  }

  /** Returns whether the listener has this address. */
  isAt({ address, port }: DecodedListener['at']): boolean {
    return this.plan.at.address === address && this.plan.at.port === port;
  }

  private endAfter(connections: readonly AcceptedConnection[], ms: number): void {
    if (connections.length === 0) return;
    const end = (): void => {
      for (const connection of connections) this.cut(connection);
    };
    if (ms <= 0) return end();
    const timer = this.tools.clock.after(ms, () => {
      this.drains.delete(timer);
      end();
    });
    this.drains.add(timer);
  }

  private cut({ socket: raw, client: socket, closed }: AcceptedConnection): void {
    closed.abort();
    reset({ socket, raw });
  }

  private async accept(socket: Socket): Promise<void> {
    const connection: AcceptedConnection = { socket, client: socket, closed: new AbortController(), chain: undefined };
    socket.on('error', () => undefined);
    this.stats.add('downstream_cx_total');
    if (!this.tools.connectionLimiter.enter()) {
      this.stats.add('downstream_global_cx_overflow');
      socket.resetAndDestroy();
      return;
    }
    this.connections.add(connection);
    this.stats.set('downstream_cx_active', this.connections.size);
    socket.setNoDelay(true);
    socket.once('close', () => this.left(connection));
    const opening = await this.inspect(socket);
    const chain = opening && this.findChain(opening);
    if (!opening || !chain || socket.destroyed) return void socket.destroy();
    connection.chain = chain;
    await this.serve(connection, chain, opening);
  }

  private left(connection: AcceptedConnection): void {
    connection.closed.abort();
    this.connections.delete(connection);
    this.tools.connectionLimiter.leave();
    this.stats.set('downstream_cx_active', this.connections.size);
    this.stats.add('downstream_cx_destroy');
  }

  private async inspect(socket: Socket): Promise<Opening | undefined> {
    const { inspection } = this.plan;
    if (!inspection) return PLAINTEXT_OPENING;
    const opening = await readOpening(socket, inspection, this.tools.clock);
    if (opening !== 'timeout') return opening;
    this.stats.add('downstream_pre_cx_timeout');
    return undefined;
  }

  private findChain(opening: Opening): DecodedFilterChain | undefined {
    const name = this.plan.choose(opening);
    const chain = name === undefined ? undefined : this.plan.chains.get(name);
    if (!chain) this.stats.add('no_filter_chain_match');
    return chain;
  }

  /** Connects to an upstream only after the caller is authenticated and allowed. */
  private async serve(connection: AcceptedConnection, chain: DecodedFilterChain, opening: Opening): Promise<void> {
    const { forwarding } = chain;
    const { socket: raw, closed } = connection;
    const tcp = this.tools.stats.getStats('tcp', forwarding.statPrefix);
    if (!this.admit(raw, forwarding)) return this.cut(connection);
    const client = chain.tls ? await this.getTerminator(chain).secure(raw) : { socket: raw, caller: ANONYMOUS_CALLER };
    if (!client || closed.signal.aborted || !this.mayCall(client.caller, forwarding)) {
      (client?.socket ?? raw).destroy();
      return;
    }
    connection.client = client.socket;
    tcp.add('downstream_cx_total');
    const name = this.findCluster(forwarding.choice, opening);
    const upstream = name === undefined ? undefined : await this.tools.destinations.findUpstream(name);
    if (!upstream) {
      tcp.add('downstream_cx_no_route');
      return this.cut(connection);
    }
    const connected = await upstream.connect(forwarding, closed.signal);
    if (!connected.ok) return this.cut(connection);
    if (closed.signal.aborted) return void connected.raw.destroy();
    this.join(connection, { socket: client.socket, raw }, connected);
  }

  private join({ socket: raw, chain }: AcceptedConnection, client: Leg, server: Leg): void {
    if (!chain) return;
    const { forwarding } = chain;
    const { maxAge, idle } = forwarding;
    const { clock, stats, garbage } = this.tools;
    const tcp = stats.getStats('tcp', forwarding.statPrefix);
    splice(client, server, {
      idle,
      onIdle: () => tcp.add('idle_timeout'),
      onBytes: (up, down) => {
        if (up > 0) tcp.add('downstream_cx_rx_bytes_total', up);
        else tcp.add('downstream_cx_tx_bytes_total', down);
        garbage.add(up + down);
      },
    });
    if (maxAge === undefined) return;
    const age = clock.after(maxAge, () => {
      tcp.add('max_downstream_connection_duration');
      client.socket.destroy();
      server.socket.destroy();
    });
    raw.once('close', () => age.cancel());
  }

  private findCluster(choice: ClusterChoice, { serverName }: Opening): string | undefined {
    switch (choice.type) {
      case 'fixed':
        return choice.cluster;
      case 'by server name':
        // The prefix comes from the configuration, so a server name cannot select another kind of cluster.
        return serverName === '' ? undefined : choice.prefix + serverName.toLowerCase();
      case 'weighted':
        return pickCluster(choice.clusters, this.tools.random());
      case 'by routes':
        return pickCluster(this.tools.destinations.listRouteClusters(choice.routes), this.tools.random());
    }
  }

  private mayCall(caller: VerifiedCaller, { access }: Forwarding): boolean {
    if (!access) return true;
    const allowed = access.allows(caller);
    this.tools.stats.getStats('rbac', access.statPrefix).add(allowed ? 'allowed' : 'denied');
    return allowed;
  }

  private admit(socket: Socket, { limit }: Forwarding): boolean {
    if (!limit) return true;
    const { statPrefix, connections, perSecond, burst } = limit;
    const { share, clock } = this.tools;
    const key = `${connections} ${perSecond} ${burst}`;
    const own = { connections: connections * share, perSecond: perSecond * share, burst: Math.max(1, burst * share) };
    const limits = this.limits.get(key) ?? new SourceLimits(own, clock);
    this.limits.set(key, limits);
    const source = socket.remoteAddress ?? '';
    const entered = limits.enter(source);
    if (entered === 'taken') socket.once('close', () => limits.leave(source));
    if (entered === 'rate') this.tools.stats.getStats('local_rate_limit', statPrefix).add('rate_limited');
    if (entered === 'connections') this.tools.stats.getStats('connection_limit', statPrefix).add('limited_connections');
    return entered === 'taken';
  }

  private getTerminator(chain: DecodedFilterChain): TlsTerminator {
    const known = this.terminators.get(chain.content);
    if (known) return known;
    if (!chain.tls) throw new TypeError(`the chain ${chain.name} has no TLS`);
    const { choice } = chain.forwarding;
    const httpOf = (): 1 | 2 | undefined =>
      choice.type === 'fixed' ? this.tools.destinations.findHttpVersion(choice.cluster) : undefined;
    const { contexts, clock } = this.tools;
    const terminator = new TlsTerminator(chain.tls, chain, { contexts, clock, stats: this.stats }, httpOf);
    this.terminators.set(chain.content, terminator);
    return terminator;
  }
}
