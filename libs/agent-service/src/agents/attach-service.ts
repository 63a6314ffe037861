import { randomUUID } from 'node:crypto';
import type { DataplaneTokens } from '@causeway/access';
import { LEASED_BY } from '@causeway/controllers';
import { readPeerAddress } from '@causeway/grpc-server';
import { Enrolment } from '@causeway/kinds';
import { AgentServiceService, type ZoneFacts } from '@causeway/proto-gen';
import {
  CallerLog,
  type Clock,
  errorText,
  type Logger,
  type Rate,
  sleepUntilTick,
  TokenBucket,
} from '@causeway/runtime';
import type { AgentLeaseStore, IndexChange, IndexEvent } from '@causeway/store';
import { Metadata, type Server } from '@grpc/grpc-js';
import { AgentRegistrations, type AgentRegistrationsOptions } from './agent-registrations';
import { TRUST_SOURCES } from '../proxies/zone-proxy-authenticator';
import type { ConnectionCredentials } from '@causeway/xds-server';
import { AttachStream, type AttachCall } from './attach-stream';
import { formatLeaseName, ReplicaLeases, type ReplicaLeasesOptions } from './replica-leases';

export interface AgentServiceOptions extends AgentRegistrationsOptions {
  readonly dataplaneTokens: Pick<DataplaneTokens, 'verify' | 'onChange'>;
  readonly leases: AgentLeaseStore;
  /** Returns the facts of the zone for machines with Dataplanes of this mesh. */
  readonly zoneFacts: (mesh: string) => ZoneFacts;
  /** Time for which a lease is valid without a heartbeat, ms (CAUSEWAY_AGENT_LEASE). */
  readonly leaseLength: number;
  /** Called when an agent is refused a Dataplane that another one holds. */
  readonly onHeld?: ReplicaLeasesOptions['onHeld'];
  /** Maximum number of streams of all agents. */
  readonly streams: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Rate limit of one stream. */
const REQUESTS: Rate = { perSecond: 20, burst: 600 };
/** Kinds that decide which ranges a mesh has. */
const MESH_SOURCES: ReadonlySet<string> = new Set(['Mesh', 'MeshParameters', 'ConfigMap']);
/** Interval at which expired credentials are looked for, ms. */
const CHECK_INTERVAL = 1_000;

/** `AgentService/Attach`: agents register Dataplanes and hold their leases (docs/reference/leases.md). */
export class AgentServer {
  private readonly streams = new Set<AttachStream>();
  private readonly leases: ReplicaLeases;
  private readonly registrations: AgentRegistrations;
  private readonly log: CallerLog;
  private readonly ending = new AbortController();
  private readonly stops: (() => void)[];
  private running: Promise<unknown> = Promise.resolve();
  private isClosed = false;

  constructor(private readonly options: AgentServiceOptions) {
    const { leases: store, leaseLength: length, onHeld, clock, logger, index, dataplaneTokens } = options;
    this.leases = new ReplicaLeases({ store, length, onHeld, clock, logger });
    this.registrations = new AgentRegistrations(options);
    this.log = new CallerLog(logger, clock);
    this.stops = [
      index.subscribe((event) => this.observe(event)),
      dataplaneTokens.onChange(() => this.streams.forEach((stream) => stream.review())),
    ];
  }

  /** Number of open streams. */
  get open(): number {
    return this.streams.size;
  }

  /** Adds the service to a server; `streams`: credentials of the server's connections. */
  readonly addTo = (server: Server, streams: ConnectionCredentials): void => {
    server.addService(AgentServiceService, {
      attach: (call: AttachCall) => this.attach(call, streams),
    });
  };

  /** Starts renewing leases. */
  start(): void {
    const { signal } = this.ending;
    this.running = Promise.all([this.leases.run(signal), this.check(signal)]).catch((error: unknown) =>
      this.options.logger.error('leases of agents are not renewed any more', { error: errorText(error) }),
    );
  }

  /** Ends all streams, so that agents connect to another replica; their leases stay. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.stops.splice(0).forEach((stop) => stop());
    this.ending.abort();
    for (const stream of [...this.streams]) stream.end('unavailable', 'this control plane stops');
    await this.running;
  }

  private attach(call: AttachCall, connections: ConnectionCredentials): void {
    call.sendMetadata(new Metadata());
    const { clock, logger, streams, zoneFacts } = this.options;
    const address = readPeerAddress(call.getPeer());
    const certificate = connections.findCertificate(call.metadata);
    const token = String(call.metadata.get('authorization')[0] ?? '')
      .replace(/^bearer +/i, '')
      .trim();
    const stream = new AttachStream(call, {
      id: randomUUID(),
      clock,
      logger,
      leases: this.leases,
      registrations: this.registrations,
      zoneFacts,
      credentials: { token, certificate, address },
      requests: new TokenBucket(REQUESTS, clock),
      authorised: () => connections.markAuthenticated(call.metadata),
      over: (why) => this.over(stream, address, why),
    });
    if (this.isClosed) return stream.end('unavailable', 'this control plane stops');
    if (this.streams.size >= streams)
      return stream.end('exhausted', `this control plane serves ${streams} agents already`);
    this.streams.add(stream);
    this.leases.add(stream);
    stream.begin();
  }

  private over(stream: AttachStream, address: string, why: string | undefined): void {
    this.leases.delete(stream);
    if (!this.streams.delete(stream) || why === undefined || this.isClosed) return;
    const { machine } = stream;
    this.log.warn(`${machine} ${address}`, 'a stream of an agent was ended', { machine, address, reason: why });
  }

  private observe({ changes }: IndexEvent): void {
    const { zone } = this.options;
    const disowned = new Set<string>();
    for (const { id, after } of changes)
      if (id.kind === 'Dataplane' && id.zone === zone && after?.labels[LEASED_BY] === undefined)
        disowned.add(formatLeaseName(id));
    if (changes.some(({ id }) => TRUST_SOURCES.has(id.kind))) this.streams.forEach((stream) => stream.review());
    if (changes.some(({ id }) => MESH_SOURCES.has(id.kind))) this.streams.forEach((stream) => stream.sendZoneFacts());
    const ended = new Set(
      changes.flatMap((change) => (endsEnrolment(change, zone) ? [formatLeaseName(change.id)] : [])),
    );
    if (ended.size > 0) for (const stream of this.streams) stream.review(ended);
    if (disowned.size > 0) for (const stream of this.streams) stream.rewriteRemoved(disowned);
  }

  private async check(signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    while (!signal.aborted) {
      await sleepUntilTick(clock, CHECK_INTERVAL, signal);
      for (const stream of this.streams) stream.checkTime(clock.now());
    }
  }
}

/** Returns whether a change removes or replaces an enrolment of the zone. */
function endsEnrolment({ id, before, after }: IndexChange, zone: string): boolean {
  return id.kind === Enrolment.name && id.zone === zone && before !== undefined && before.uid !== after?.uid;
}
