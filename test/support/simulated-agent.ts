import { randomUUID } from 'node:crypto';
import { LeaseHolder } from '@causeway/agent/testing';
import { createWorkloadKey } from '@causeway/identity';
import type { WorkloadKey } from '@causeway/identity/testing';
import { TlsSecret } from '@causeway/proto-gen';
import { silentLogger, systemClock } from '@causeway/runtime';
import {
  AdsClient,
  ClientConnections,
  RESOURCE_TYPES,
  type AdsClientTls,
  type EncodedResource,
  type ResourceUpdate,
} from '@causeway/xds-server';

const { cluster, hostName, listener, secret } = RESOURCE_TYPES;
const MESH = 'default';
/** Of every simulated agent, so that one token holds for all. */
export const WORKLOAD = 'storm';
const IDENTITY = 'identity';
const PAUSES = { base: 100, cap: 5_000 };
const PORT = 16_379;

/** Address and credentials of the zone of simulated agents. */
export interface SimulatedZone {
  /** `host:port` of the xDS ports of its replicas. */
  readonly addresses: readonly string[];
  /** The authority that verifies its ports, PEM; plain text if absent. */
  readonly authority?: string;
  /** A dataplane token of the workload `WORKLOAD`. */
  readonly token: string;
}

/**
 * The streams of an agent without its proxy, by the clients of the real agent: registration and lease, and all resources of its Dataplane. It shows
 * the certificate that the zone signs for its key from then on. It keeps received resources in memory.
 */
export class SimulatedAgent {
  private readonly held = new Map<string, Map<string, EncodedResource>>();
  private readonly ending = new AbortController();
  private readonly connections = new ClientConnections(systemClock);
  private readonly holder: LeaseHolder;
  private client: AdsClient | undefined;
  private running: Promise<void> = Promise.resolve();
  private identity: AdsClientTls['identity'];
  /** Counts streams. Each asks for a name that does not exist: its answer is the first on the stream. */
  private streams = 0;
  private isAnswered = false;
  private isRegistered = false;
  private settled: number | undefined;

  private constructor(
    readonly name: string,
    private readonly zone: SimulatedZone,
    private readonly key: WorkloadKey,
  ) {
    this.holder = new LeaseHolder({
      instance: randomUUID(),
      machine: `machine-of-${name}`,
      version: '1',
      clock: systemClock,
      logger: silentLogger,
      connections: this.connections,
      addresses: () => zone.addresses,
      tls: () => this.tls(),
      authorization: () => `Bearer ${zone.token}`,
    });
    this.holder.onChange(() => this.review());
  }

  /** An agent of one Dataplane, which serves the service of its name. It makes its key. */
  static async create(name: string, zone: SimulatedZone): Promise<SimulatedAgent> {
    return new SimulatedAgent(name, zone, await createWorkloadKey());
  }

  /** When its registration and its questions were answered on the streams that it has, and it has a certificate; ms since 1970. */
  get settledAt(): number | undefined {
    return this.settled;
  }

  /** State of its streams, for messages. */
  get reason(): string {
    const lease = this.holder.states().get(`${MESH}/${this.name}`);
    return JSON.stringify({ attachment: this.holder.attachment, lease, ads: this.client?.state });
  }

  /** Attaches; asks for the resources of its Dataplane when that is registered. */
  start(): void {
    const tags = { 'kuma.io/service': WORKLOAD };
    const networking = { address: '127.0.0.1', inbound: [{ port: PORT, tags }] };
    this.holder.setDataplanes([
      { mesh: MESH, name: this.name, labels: { 'kuma.io/workload': WORKLOAD }, spec: { networking } },
    ]);
    this.running = this.holder.run(this.ending.signal);
  }

  /** As a process that is killed: nothing is withdrawn. */
  async kill(): Promise<void> {
    this.ending.abort();
    this.client?.close();
    await this.running;
  }

  private review(): void {
    const { attachment } = this.holder;
    this.isRegistered =
      attachment.type === 'attached' && this.holder.states().get(`${MESH}/${this.name}`)?.type === 'held';
    if (attachment.type === 'detached') this.settled = undefined;
    if (this.isRegistered) this.client ??= this.connect();
    this.settle();
  }

  private settle(): void {
    if (this.isAnswered && this.identity && this.isRegistered) this.settled ??= Date.now();
  }

  private connect(): AdsClient {
    const { name, zone } = this;
    const metadata = { 'causeway.io/csr': this.key.csr, 'causeway.io/key-file': '/k', 'causeway.io/capture': 'none' };
    const client = new AdsClient({
      addresses: () => zone.addresses,
      clock: systemClock,
      logger: silentLogger,
      limits: { pause: PAUSES },
      connections: this.connections,
      tls: () => this.tls(),
      authorization: () => `Bearer ${zone.token}`,
      node: () => ({ id: `${MESH}.${name}`, cluster: name, metadata, userAgent: 'causeway-agent 1' }),
      held: (type) => [...(this.held.get(type) ?? [])].map(([one, { version }]) => [one, version] as const),
      receive: (update) => Promise.resolve(this.receive(update)),
    });
    client.onState(({ type }) => {
      if (type === 'connecting') this.askAgain(client);
    });
    for (const type of [cluster, listener]) client.subscribe(type, ['*']);
    client.subscribe(secret, [IDENTITY, 'trust']);
    this.askAgain(client);
    return client;
  }

  private askAgain(client: AdsClient): void {
    this.isAnswered = false;
    this.settled = undefined;
    client.unsubscribe(hostName, [this.question]);
    this.streams += 1;
    client.subscribe(hostName, [this.question]);
  }

  private get question(): string {
    return `question-${this.streams}.mesh.local`;
  }

  private receive({ type, resources, removed }: ResourceUpdate): undefined {
    const held = this.held.get(type) ?? new Map<string, EncodedResource>();
    this.held.set(type, held);
    for (const resource of resources) held.set(resource.name, resource);
    for (const name of removed) held.delete(name);
    if (type === hostName && removed.includes(this.question)) this.isAnswered = true;
    const own = resources.find(({ name }) => type === secret && name === IDENTITY);
    const content = own && TlsSecret.decode(own.bytes).type;
    const chain = content?.$case === 'tlsCertificate' ? content.value.certificateChain?.specifier : undefined;
    if (chain?.$case === 'inlineString') this.identity = { chain: chain.value, key: this.key.privateKey };
    this.settle();
  }

  private tls(): AdsClientTls | undefined {
    const { authority } = this.zone;
    return authority === undefined
      ? undefined
      : { authorities: authority, ...(this.identity && { identity: this.identity }) };
  }
}
