import { sleepUntilTick, type Clock, type Logger } from '@causeway/runtime';
import { LeaseHolder, type LeasedDataplane, type LeaseHolderOptions, type LeaseState } from '../lease/lease-holder';
import type { InboundReadiness } from '../lease/inbound-readiness';
import type { MachineProxy } from './machine-proxy';
import type { LeaseStatus } from './status';

export interface DataplaneLeaseOptions {
  readonly proxy: MachineProxy;
  /** Id of the agent, kept across restarts. */
  readonly instance: string;
  readonly secret: string;
  readonly machine: string;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** See `LeaseHolderOptions`. */
  readonly onZoneFacts?: LeaseHolderOptions['onZoneFacts'];
}

/** Time for other zones to learn that an instance is not ready, ms. */
const PROPAGATION_TIME = 500;
/** Interval at which unsupported features of the proxy are collected, ms. */
const POLL_INTERVAL = 1_000;
/** Timeout of the zone's answer while the agent ends, ms. */
const ANSWER_TIMEOUT = 3_000;

/** Registration and lease of one Dataplane, on its own stream, since each Dataplane has its own certificate. */
export class DataplaneLease {
  private readonly holder: LeaseHolder;
  private readonly ending = new AbortController();
  private running: Promise<unknown> = Promise.resolve();
  private registered: LeasedDataplane | undefined;

  constructor(private readonly options: DataplaneLeaseOptions) {
    const { proxy, instance, secret, machine, version, clock, logger, onZoneFacts } = options;
    this.holder = new LeaseHolder({
      instance,
      secret,
      machine,
      version,
      clock,
      logger,
      addresses: () => proxy.addresses,
      tls: () => proxy.tls(),
      authorization: () => proxy.authorization(),
      connections: proxy.connections,
      ...(onZoneFacts && { onZoneFacts }),
    });
    this.holder.onChange(() => {
      const state = this.holder.states().values().next().value;
      if (state && state.type !== 'waiting') proxy.registered();
    });
  }

  start(): void {
    const { signal } = this.ending;
    this.running = Promise.all([this.holder.run(signal), this.reportUnsupported(signal)]);
  }

  private async reportUnsupported(signal: AbortSignal): Promise<void> {
    const { proxy, clock } = this.options;
    while (!signal.aborted) {
      if (this.registered)
        this.holder.setUnsupported(this.registered, [...proxy.refused, ...(proxy.plane.unsupported ?? [])]);
      await sleepUntilTick(clock, POLL_INTERVAL, signal);
    }
  }

  /** Replaces the registration. */
  register(dataplane: LeasedDataplane): void {
    this.registered = dataplane;
    this.holder.setDataplanes([dataplane]);
  }

  /** Sets the readiness of its inbounds; for others the spec applies. */
  report(health: readonly InboundReadiness[]): void {
    if (this.registered) this.holder.setReadiness(this.registered, health);
  }

  get status(): LeaseStatus {
    const state: LeaseState = this.holder.states().values().next().value ?? { type: 'waiting' };
    if (state.type === 'held') return { type: 'held', since: state.since };
    const { attachment } = this.holder;
    if (state.type === 'refused' || state.type === 'other') {
      const violations = state.violations.map(({ field, message }) => `${field}: ${message}`);
      return { type: state.type, reason: [state.reason, ...violations].filter((part) => part !== '').join('; ') };
    }
    if (state.type === 'withdrawn') return { type: 'withdrawn' };
    const failure = attachment.type === 'detached' ? attachment.failure : undefined;
    return { type: 'waiting', ...(failure !== undefined && { reason: failure }) };
  }

  /** First step of a graceful stop: reports all inbounds not ready, and gives clients time to react. */
  async stopServing(reason: string): Promise<void> {
    this.holder.stopServing(reason);
    if (await this.settled()) await this.options.clock.sleep(PROPAGATION_TIME);
  }

  /** Last step: withdraws the Dataplane if the zone can be reached; otherwise its lease expires. */
  async withdraw(): Promise<void> {
    this.holder.setDataplanes([]);
    await this.settled();
    await this.end();
  }

  /** Ends without withdrawal: the lease expires, or the next run takes it over. */
  async end(): Promise<void> {
    this.ending.abort();
    await this.running;
  }

  private async settled(): Promise<boolean> {
    if (this.holder.attachment.type === 'detached') return false;
    const deadline = new AbortController();
    const timer = this.options.clock.after(ANSWER_TIMEOUT, () => deadline.abort());
    const isSettled = await this.holder.settled(deadline.signal);
    timer.cancel();
    return isSettled;
  }
}
