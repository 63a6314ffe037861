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
import { shortened, type JsonObject, type Labels } from '@causeway/resources';
import { WakeableSleep, type Clock, type Logger } from '@causeway/runtime';
import { ClientConnections, CONNECT_DEADLINE, ConnectRounds } from '@causeway/xds-server';
import type { UnsupportedFeature } from '../plane';
import { DEFAULT_NAMESPACE, formatQualifiedName } from '../config/qualified-name';
import { Attachment, type LeaseEndpoint } from './attachment';
import { listStoppedInbounds, type InboundReadiness } from './inbound-readiness';

/** Dataplane of this machine to be registered. */
export interface LeasedDataplane {
  readonly mesh: string;
  readonly name: string;
  /** Absent: `default`. */
  readonly namespace?: string;
  readonly labels: Labels;
  /** Spec without the states of health checks. */
  readonly spec: JsonObject;
  /** Qualified name of another Dataplane of this agent, whose identity the machine's programs use as clients. */
  readonly clientDataplane?: string;
}

/** State of the registration of a Dataplane, for status. */
export type LeaseState =
  | { readonly type: 'waiting' }
  | { readonly type: 'held'; readonly since: number }
  /** `other`: another agent holds the lease, or a proxy registered the Dataplane itself. */
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
  /** See `readAgentInstance`. */
  readonly instance: string;
  /** See `readLeaseSecret`; absent: leases are identified by the public instance id only. */
  readonly secret?: string;
  /** Host name of the machine, for operators. */
  readonly machine: string;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns a number in [0, 1); default: Math.random. */
  readonly random?: () => number;
  /** Called when the zone has sent its facts. */
  readonly onZoneFacts?: (facts: ZoneFacts) => void;
}

type LeasedKey = Pick<LeasedDataplane, 'mesh' | 'namespace' | 'name'>;

interface RegistrationState {
  readonly key: LeasedKey;
  /** Undefined: to be withdrawn. */
  wanted: LeasedDataplane | undefined;
  health: readonly InboundReadiness[];
  unsupported: readonly UnsupportedFeature[];
  /** Version of the wanted state. */
  version: number;
  /** Version sent on this stream and not yet answered; 0: none. */
  sent: number;
  /** The last message was a withdrawal. */
  isLeaving: boolean;
  /** Version answered last on this stream. */
  answered: number;
  state: LeaseState;
}

/** Time after which addresses are read again while none is known, ms. */
const NO_ADDRESS_WAIT = 100;
/** Minimum time between two checks of heartbeats and reconnects, ms. */
const MIN_WAIT = 10;
/** Backoff, ms; control planes wait longer than its cap before they end leases (docs/reference/leases.md). */
const LIMITS = { deadline: CONNECT_DEADLINE, pause: { base: 100, cap: 5_000 } };
/** Limits of the zone (proto/causeway/agent/v1). */
const [MAX_UNSUPPORTED, MAX_NAME_LENGTH, MAX_PART_LENGTH, MAX_CLIENT_LENGTH] = [64, 256, 512, 253];
/** If heartbeats are not confirmed for this share of the lease, the agent connects to another control plane. */
const UNCONFIRMED_SHARE = 0.7;

/**
 * Registers the Dataplanes of a machine and holds their leases. Keeps a stream to one control plane, sends the newest
 * state of each Dataplane until it is answered, and heartbeats. Unanswered states are sent again on the next stream.
 */
export class LeaseHolder {
  private readonly all = new Map<string, RegistrationState>();
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
  private readonly sleep: WakeableSleep;

  constructor(private readonly options: LeaseHolderOptions) {
    const { clock, random, connections } = options;
    this.process = { run: randomUUID(), startedAt: clock.now() };
    this.rounds = new ConnectRounds(LIMITS, random);
    this.connections = connections ?? new ClientConnections(clock);
    this.sleep = new WakeableSleep(clock);
  }

  get attachment(): AttachmentState {
    return this.current;
  }

  /** Returns the state of each Dataplane, by `mesh/name` or `mesh/name.namespace`. */
  states(): ReadonlyMap<string, LeaseState> {
    return new Map([...this.all].map(([name, { state }]) => [name, state]));
  }

  /** Calls `listener` after each change of `attachment` or `states` until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Sets the registered Dataplanes; all others are withdrawn. */
  setDataplanes(dataplanes: readonly LeasedDataplane[]): void {
    const wanted = new Map(dataplanes.map((one) => [formatLeaseName(one), one]));
    for (const [name, { key }] of this.all) if (!wanted.has(name)) this.change(key, { wanted: undefined });
    for (const one of wanted.values()) this.change(one, { wanted: one });
  }

  /** Sets the readiness of the inbounds of a Dataplane; for others the spec applies. */
  setReadiness(key: LeasedKey, health: readonly InboundReadiness[]): void {
    this.change(key, { health });
  }

  /** Sets the configured features that its proxy does not support; the first 64 are sent. */
  setUnsupported(key: LeasedKey, parts: readonly UnsupportedFeature[]): void {
    const unsupported = parts.slice(0, MAX_UNSUPPORTED).map(({ name, what }) => ({
      name: shortened(name, MAX_NAME_LENGTH, '…'),
      what: shortened(what, MAX_PART_LENGTH, '…'),
    }));
    this.change(key, { unsupported });
  }

  /** Reports all inbounds as not ready: the first step of a graceful stop. */
  stopServing(reason: string): void {
    this.stopping = reason;
    for (const one of this.all.values()) this.change(one.key, {});
  }

  /** Resolves with true when the zone has answered all newest states; false if `signal` aborts first. */
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

  /** Attaches and holds leases until `signal` aborts. Leases that were not withdrawn then expire. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    this.open();
    while (!signal.aborted) {
      await this.sleep.sleep(Math.max(MIN_WAIT, this.nextCheck() - clock.elapsed()), signal);
      this.checkStream();
    }
    this.stream?.end('the agent ends');
  }

  private change(key: LeasedKey, news: Partial<Pick<RegistrationState, 'wanted' | 'health' | 'unsupported'>>): void {
    const name = formatLeaseName(key);
    const before = this.all.get(name);
    const one: RegistrationState = before ?? {
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

  /** Sends all changes of one turn in one request; a Dataplane waits for the answer to its former state. */
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
        withdrawals: due.flatMap(({ key, wanted }) => (wanted ? [] : [toDataplaneName(key)])),
      });
    });
  }

  private toRegistration(
    { key, version, health, unsupported }: RegistrationState,
    { labels, spec, clientDataplane = '' }: LeasedDataplane,
  ): Registration {
    const inbounds =
      this.stopping === undefined ? health : listStoppedInbounds(spec, this.stopping, this.options.clock.now());
    return {
      dataplane: toDataplaneName(key),
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
    if (address === undefined) {
      this.retryAt = clock.elapsed() + NO_ADDRESS_WAIT;
      return this.become({ type: 'detached', failure: 'no address of a control plane is known' });
    }
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
    this.sleep.wake();
  }

  private received({ lease, results, heartbeat, zone }: AttachResponse, address: string): void {
    const { clock, logger } = this.options;
    if (lease) {
      this.rounds.answered();
      this.terms = { length: lease.lengthMs, heartbeat: lease.heartbeatMs };
      this.heartbeat = { ...this.heartbeat, confirmedAt: clock.elapsed() };
      this.sleep.wake();
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
    // The wanted state has changed since.
    if ((one.wanted === undefined) !== (version === 0)) return this.flush();
    const before = one.state;
    one.state = this.toLeaseState(outcome, { reason, violations });
    if (isWithdrawn && one.answered === one.version) this.all.delete(formatLeaseName(one.key));
    if (one.state.type !== before.type && (one.state.type === 'refused' || one.state.type === 'other'))
      this.options.logger.warn('a Dataplane is not registered', { ...one.key, reason });
    this.notify();
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

  /** Returns when a heartbeat, its confirmation or a reconnect is due, by `Clock.elapsed`. */
  private nextCheck(): number {
    if (!this.stream) return this.retryAt;
    // Its first response wakes.
    if (!this.terms) return Infinity;
    const { sentAt, confirmedAt } = this.heartbeat;
    return Math.min(sentAt + this.terms.heartbeat, confirmedAt + this.terms.length * UNCONFIRMED_SHARE);
  }

  /** Sends heartbeats, checks their confirmation, and reconnects. */
  private checkStream(): void {
    const now = this.options.clock.elapsed();
    if (!this.stream) {
      if (now >= this.retryAt) this.open();
      return;
    }
    if (!this.terms) return;
    if (now - this.heartbeat.confirmedAt >= this.terms.length * UNCONFIRMED_SHARE)
      return this.stream.abandon('it does not confirm heartbeats');
    if (now - this.heartbeat.sentAt >= this.terms.heartbeat) this.send({});
  }

  private become(state: AttachmentState): void {
    this.current = state;
    this.notify();
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}

function formatLeaseName({ mesh, ...named }: LeasedKey): string {
  return `${mesh}/${formatQualifiedName(named)}`;
}

/** Leaves out the default namespace, which a zone of any version reads as `default`. */
function toDataplaneName({ mesh, namespace = DEFAULT_NAMESPACE, name }: LeasedKey): DataplaneName {
  return { mesh, namespace: namespace === DEFAULT_NAMESPACE ? '' : namespace, name };
}
