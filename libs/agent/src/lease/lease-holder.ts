import { randomUUID } from 'node:crypto';
import {
  RegistrationOutcome,
  type AttachRequest,
  type AttachResponse,
  type DataplaneName,
  type Registration,
  type RegistrationResult,
  type ZoneFacts,
} from '@causeway/proto-gen';
import { isJsonArray, isJsonObject, shortened, type JsonObject, type Labels } from '@causeway/resources';
import type { Clock, Logger } from '@causeway/runtime';
import { ClientConnections, CONNECT_DEADLINE, ConnectRounds } from '@causeway/xds-server';
import type { UnsupportedFeature } from '../plane';
import { DEFAULT_NAMESPACE, qualifiedName } from '../config/qualified-name';
import { Attachment, type LeaseEndpoint } from './attachment';

/** A Dataplane of this machine as it is to be registered. */
export interface LeasedDataplane {
  readonly mesh: string;
  readonly name: string;
  /** Absent: `default`. */
  readonly namespace?: string;
  readonly labels: Labels;
  /** Its spec, without the states of what is checked. */
  readonly spec: JsonObject;
  /** The `qualifiedName` of the Dataplane of this agent as which programs of the machine call, where that is another one. */
  readonly clientDataplane?: string;
}

/** Readiness of one inbound. */
export interface InboundReadiness {
  /** Its place in `networking.inbound`. */
  readonly inbound: number;
  readonly ready: boolean;
  /** Description of the check, such as `tcp 127.0.0.1:6379`. */
  readonly check: string;
  /** Why it is not ready. */
  readonly reason: string;
  /** ms since 1970. */
  readonly since: number;
  /** It is not ready because its process can be reached without its proxy. */
  readonly plaintextReachable?: boolean;
}

/** State of the registration of a Dataplane, for status. */
export type LeaseState =
  | { readonly type: 'waiting' }
  | { readonly type: 'held'; readonly since: number }
  /** `other`: another agent has it, or a proxy brought it along. */
  | { readonly type: 'refused' | 'other'; readonly reason: string; readonly violations: readonly LeaseViolation[] }
  | { readonly type: 'withdrawn' };

interface LeaseViolation {
  readonly field: string;
  readonly rule: string;
  readonly message: string;
}

/** Whether the agent is attached, for status. */
export type AttachmentState =
  | { readonly type: 'attached'; readonly address: string; readonly since: number }
  | { readonly type: 'detached'; readonly failure?: string };

export interface LeaseHolderOptions extends LeaseEndpoint {
  /** See `agentInstance`. */
  readonly instance: string;
  /** See `leaseSecret`; absent: leases go by what others can say too. */
  readonly secret?: string;
  /** Host name of the machine, for operators. */
  readonly machine: string;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** 0 ≤ x < 1; Math.random unless a test says otherwise. */
  readonly random?: () => number;
  /** Called when the zone has sent its facts. */
  readonly onZoneFacts?: (facts: ZoneFacts) => void;
}

/** Identifies a Dataplane. */
type LeasedKey = Pick<LeasedDataplane, 'mesh' | 'namespace' | 'name'>;

interface Registered {
  readonly key: LeasedKey;
  /** Undefined: it is given up. */
  wanted: LeasedDataplane | undefined;
  health: readonly InboundReadiness[];
  unsupported: readonly UnsupportedFeature[];
  /** Counts states. */
  version: number;
  /** The state that waits for an answer on this stream; 0: none. */
  sent: number;
  /** The last message was a withdrawal. */
  isLeaving: boolean;
  /** The last state that was answered on this stream. */
  answered: number;
  state: LeaseState;
}

/** Pauses between tries, ms: a control plane waits for the longest before it ends leases (docs/reference/leases.md). */
const LIMITS = { deadline: CONNECT_DEADLINE, pause: { base: 100, cap: 5_000 } };
/** Bounds of what the zone takes (proto/causeway/agent/v1). */
const [MAX_UNSUPPORTED, MAX_NAME_LENGTH, MAX_PART_LENGTH, MAX_CLIENT_LENGTH] = [64, 256, 512, 253];
/** An agent whose heartbeats are not confirmed for this share of the lease turns to another control plane. */
const UNCONFIRMED = 0.7;
/** Interval at which due registrations are looked for, ms. */
const POLL_INTERVAL = 100;

/**
 * Registers the Dataplanes of a machine and holds their leases: a stream to one control plane after the other, on which the newest state
 * of each Dataplane is sent until it is answered, and heartbeats. What is not confirmed is sent again on the next stream.
 */
export class LeaseHolder {
  private readonly all = new Map<string, Registered>();
  private readonly rounds: ConnectRounds;
  private readonly connections: ClientConnections;
  private readonly listeners = new Set<() => void>();
  private readonly process: { readonly run: string; readonly startedAt: number };
  private stream: Attachment | undefined;
  private current: AttachmentState = { type: 'detached' };
  private terms: { readonly length: number; readonly heartbeat: number } | undefined;
  private heartbeat = { number: 0, sentAt: 0, confirmedAt: 0 };
  private isFlushing = false;
  private stopping: string | undefined;
  private retryAt = 0;

  constructor(private readonly options: LeaseHolderOptions) {
    const { clock, random, connections } = options;
    this.process = { run: randomUUID(), startedAt: clock.now() };
    this.rounds = new ConnectRounds(LIMITS, random);
    this.connections = connections ?? new ClientConnections(clock);
  }

  get attachment(): AttachmentState {
    return this.current;
  }

  /** State of each Dataplane, by mesh and `qualifiedName`: `mesh/name`, `mesh/name.namespace`. */
  states(): ReadonlyMap<string, LeaseState> {
    return new Map([...this.all].map(([name, { state }]) => [name, state]));
  }

  /** Calls `listener` after each change of `attachment` or `states` until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** From now on these are registered; those that are not among them any more are removed at once. */
  want(dataplanes: readonly LeasedDataplane[]): void {
    const wanted = new Map(dataplanes.map((one) => [formatLeaseName(one), one]));
    for (const [name, { key }] of this.all) if (!wanted.has(name)) this.change(key, { wanted: undefined });
    for (const one of wanted.values()) this.change(one, { wanted: one });
  }

  /** Sets the readiness of the inbounds of a Dataplane; inbounds that are not named are as its spec says. */
  report(key: LeasedKey, health: readonly InboundReadiness[]): void {
    this.change(key, { health });
  }

  /** Sets the configured features that its proxy does not support; the first 64 are sent. */
  reportUnsupported(key: LeasedKey, parts: readonly UnsupportedFeature[]): void {
    const unsupported = parts.slice(0, MAX_UNSUPPORTED).map(({ name, what }) => ({
      name: shortened(name, MAX_NAME_LENGTH, '…'),
      what: shortened(what, MAX_PART_LENGTH, '…'),
    }));
    this.change(key, { unsupported });
  }

  /** No inbound is ready any more: the first step of a graceful stop. */
  stopServing(reason: string): void {
    this.stopping = reason;
    for (const one of this.all.values()) this.change(one.key, {});
  }

  /** Resolves with true once the zone has answered the newest state of every Dataplane; false where `signal` aborts before. */
  settled(signal: AbortSignal): Promise<boolean> {
    const isSettled = (): boolean => [...this.all.values()].every(({ version, answered }) => answered === version);
    return new Promise((resolve) => {
      const finish = (answer: boolean): void => {
        stop();
        signal.removeEventListener('abort', give);
        resolve(answer);
      };
      const give = (): void => finish(false);
      const stop = this.onChange(() => {
        if (isSettled()) finish(true);
      });
      if (isSettled()) finish(true);
      else if (signal.aborted) finish(false);
      else signal.addEventListener('abort', give, { once: true });
    });
  }

  /** Attaches and holds leases until `signal` aborts. They end then by themselves, unless they were withdrawn before. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    this.open();
    while (!signal.aborted) {
      await clock.sleep(POLL_INTERVAL, signal);
      this.beat();
    }
    this.stream?.end('the agent ends');
  }

  private change(key: LeasedKey, news: Partial<Pick<Registered, 'wanted' | 'health' | 'unsupported'>>): void {
    const name = formatLeaseName(key);
    const before = this.all.get(name);
    const one: Registered = before ?? {
      key,
      wanted: undefined,
      health: [],
      unsupported: [],
      version: 0,
      sent: 0,
      isLeaving: false,
      answered: 0,
      state: { type: 'waiting' },
    };
    const after = { ...one, ...news };
    if (
      before &&
      this.stopping === undefined &&
      JSON.stringify([one.wanted, one.health, one.unsupported]) ===
        JSON.stringify([after.wanted, after.health, after.unsupported])
    )
      return;
    this.all.set(name, Object.assign(one, news, { version: one.version + 1 }));
    this.flush();
  }

  /** Changes of one turn go in one request; a Dataplane whose state is being answered waits for that. */
  private flush(): void {
    if (this.isFlushing) return;
    this.isFlushing = true;
    queueMicrotask(() => {
      this.isFlushing = false;
      const due = [...this.all.values()].filter(({ sent, version, answered }) => sent === 0 && answered !== version);
      if (!this.terms || due.length === 0) return;
      for (const one of due) Object.assign(one, { sent: one.version, isLeaving: one.wanted === undefined });
      this.send({
        registrations: due.flatMap((one) => (one.wanted ? [this.toRegistration(one, one.wanted)] : [])),
        withdrawals: due.flatMap(({ key, wanted }) => (wanted ? [] : [nameOnWire(key)])),
      });
    });
  }

  private toRegistration(
    { key, version, health, unsupported }: Registered,
    { labels, spec, clientDataplane = '' }: LeasedDataplane,
  ): Registration {
    const inbounds = this.stopping === undefined ? health : stopped(spec, this.stopping, this.options.clock.now());
    return {
      dataplane: nameOnWire(key),
      version,
      token: '',
      labels,
      specJson: JSON.stringify(spec),
      inbounds: inbounds.map((one) => ({ plaintextReachable: false, ...one })),
      unobeyed: [...unsupported],
      clientDataplane: shortened(clientDataplane, MAX_CLIENT_LENGTH, '…'),
    };
  }

  private send(request: Partial<AttachRequest>): void {
    this.heartbeat = { ...this.heartbeat, number: this.heartbeat.number + 1, sentAt: this.options.clock.elapsed() };
    this.stream?.send({ ...request, heartbeat: this.heartbeat.number });
  }

  private open(): void {
    const { addresses, tls, authorization, clock, instance, secret = '', machine, version } = this.options;
    const address = this.rounds.next(addresses());
    this.terms = undefined;
    for (const one of this.all.values()) Object.assign(one, { sent: 0, answered: 0 });
    if (address === undefined)
      return this.become({ type: 'detached', failure: 'no address of a control plane is known' });
    const { deadline } = this.rounds;
    const connection = this.connections.use(address, tls());
    const stream = new Attachment(
      address,
      { connection, authorization, deadline, clock },
      {
        received: (response) => this.received(response, address),
        ended: (failure) => this.ended(stream, failure),
      },
    );
    this.stream = stream;
    this.send({ agent: { instance, secret, ...this.process, machine, version } });
  }

  private ended(stream: Attachment, failure: string): void {
    if (stream !== this.stream) return;
    const { logger, addresses } = this.options;
    const wasAttached = this.current.type === 'attached';
    if (wasAttached || this.current.type !== 'detached' || this.current.failure !== failure)
      logger.warn('not attached to a control plane', { address: stream.address, reason: failure });
    this.stream = undefined;
    this.terms = undefined;
    this.become({ type: 'detached', failure });
    this.retryAt = this.options.clock.elapsed() + this.rounds.failed(addresses());
  }

  private received({ lease, results, heartbeat, zone }: AttachResponse, address: string): void {
    const { clock, logger } = this.options;
    if (lease) {
      this.rounds.answered();
      this.terms = { length: lease.lengthMs, heartbeat: lease.heartbeatMs };
      this.heartbeat = { ...this.heartbeat, confirmedAt: clock.elapsed() };
      logger.info('attached to a control plane', { address });
      this.become({ type: 'attached', address, since: clock.now() });
      this.flush();
    }
    if (heartbeat > 0) this.heartbeat = { ...this.heartbeat, confirmedAt: clock.elapsed() };
    for (const result of results) this.answered(result);
    if (zone) {
      const { virtualRanges, dnsSuffixes } = zone;
      this.options.onZoneFacts?.({ virtualRanges, dnsSuffixes });
    }
  }

  private answered({ dataplane, version, outcome, reason, violations }: RegistrationResult): void {
    const { mesh = '', namespace = '', name = '' } = dataplane ?? {};
    const one = this.all.get(formatLeaseName({ mesh, name, ...(namespace !== '' && { namespace }) }));
    const isWithdrawn = outcome === RegistrationOutcome.REGISTRATION_OUTCOME_WITHDRAWN;
    if (!one) return;
    if (one.sent !== 0 && (one.isLeaving ? version === 0 : version === one.sent)) {
      one.answered = one.sent;
      one.sent = 0;
    }
    // // The wanted state has changed since.
    if ((one.wanted === undefined) !== (version === 0)) return this.flush();
    const before = one.state;
    one.state = this.toLeaseState(outcome, { reason, violations });
    if (isWithdrawn && one.answered === one.version) this.all.delete(formatLeaseName(one.key));
    if (one.state.type !== before.type && (one.state.type === 'refused' || one.state.type === 'other'))
      this.options.logger.warn('a Dataplane is not registered', { ...one.key, reason });
    this.tell();
    this.flush();
  }

  private toLeaseState(
    outcome: RegistrationOutcome,
    why: Pick<RegistrationResult, 'reason' | 'violations'>,
  ): LeaseState {
    switch (outcome) {
      case RegistrationOutcome.REGISTRATION_OUTCOME_WRITTEN:
        return { type: 'held', since: this.options.clock.now() };
      case RegistrationOutcome.REGISTRATION_OUTCOME_WITHDRAWN:
        return { type: 'withdrawn' };
      case RegistrationOutcome.REGISTRATION_OUTCOME_HELD:
        return { type: 'other', ...why };
      default:
        return { type: 'refused', ...why };
    }
  }

  /** Heartbeats, their confirmation, and the next try. */
  private beat(): void {
    const now = this.options.clock.elapsed();
    if (!this.stream) {
      if (now >= this.retryAt) this.open();
      return;
    }
    if (!this.terms) return;
    if (now - this.heartbeat.confirmedAt > this.terms.length * UNCONFIRMED)
      return this.stream.abandon('it does not confirm heartbeats');
    if (now - this.heartbeat.sentAt >= this.terms.heartbeat) this.send({});
  }

  private become(state: AttachmentState): void {
    this.current = state;
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

function formatLeaseName({ mesh, ...named }: LeasedKey): string {
  return `${mesh}/${qualifiedName(named)}`;
}

/** A zone of any version reads an empty namespace as `default`. */
function nameOnWire({ mesh, namespace = DEFAULT_NAMESPACE, name }: LeasedKey): DataplaneName {
  return { mesh, namespace: namespace === DEFAULT_NAMESPACE ? '' : namespace, name };
}

/** Every inbound of a spec as not ready. */
function stopped(spec: JsonObject, reason: string, since: number): readonly InboundReadiness[] {
  const networking = spec['networking'];
  const inbounds = isJsonObject(networking) ? networking['inbound'] : undefined;
  if (!isJsonArray(inbounds)) return [];
  return inbounds.map((_, inbound) => ({ inbound, ready: false, check: '', reason, since }));
}
