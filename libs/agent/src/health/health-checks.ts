import { durationMs } from '@causeway/resources';
import { errorText, underSignals, WakeableSleep, type Clock } from '@causeway/runtime';
import type { HealthCheckConfig } from '../config/schema';
import type { InboundReadiness } from '../lease/inbound-readiness';
import { probeCommand } from './command-probe';
import { createHealthState, applyCheckResult, type CheckResult, type HealthState } from './health-state';
import { isLocalAddress, isListening, type SocketsByPort } from './listening-sockets';
import { ListeningWatch, type ListeningWatchOptions } from './listening-watch';
import { failure, probeGrpc, probeHttp, probeTcp, type ProbeTarget } from './probes';

/** Service of a Dataplane whose readiness is checked. */
export interface CheckedService {
  /** `mesh/name` of the Dataplane. */
  readonly dataplane: string;
  /** Index in `networking.inbound`. */
  readonly inbound: number;
  /** Address of the process. */
  readonly target: ProbeTarget;
  /** Undefined: the service counts as ready, except while its port has no listening socket after it had one. */
  readonly check: HealthCheckConfig | undefined;
}

export interface HealthChecksOptions {
  readonly clock: Clock;
  /** Called when the readiness of a Dataplane's services has changed. */
  readonly changed: (dataplane: string, health: readonly InboundReadiness[]) => void;
  /** Called with an unexpected error. */
  readonly failed: (error: unknown) => void;
  /** Sources of the watch of listening sockets; default: those of the system. */
  readonly sockets?: Pick<ListeningWatchOptions, 'listening' | 'monitor'>;
  /** Returns a number in [0, 1); default: Math.random. */
  readonly random?: () => number;
}

interface CheckState {
  service: CheckedService;
  state: HealthState;
  /** Time of the next check, by `Clock.elapsed`. */
  dueAt: number;
  isRunning: boolean;
  /** Whether the address is one of this machine. */
  readonly isHere: boolean;
  /** Whether a socket listened at the address at the last look. */
  wasListening: boolean;
}

/** Time in which the first checks of services begin, spread randomly, ms. */
const FIRST_CHECKS = 250;
/** Maximum number of concurrent checks: each is a connection or a process. */
const MAX_CONCURRENT = 16;
/** Share of the interval by which checks are randomly spread. */
const JITTER = 0.1;
const DEFAULT_INTERVAL = 10_000;
const DEFAULT_TIMEOUT = 2_000;

/**
 * Checks the services of a machine periodically: at most one check per service at a time, and 16 in total. Listening
 * sockets are watched, so that a service whose process dies becomes not ready at once.
 */
export class HealthChecks {
  private readonly all = new Map<string, CheckState>();
  private running = 0;
  private readonly sleep: WakeableSleep;
  private readonly listening: ListeningWatch;

  constructor(private readonly options: HealthChecksOptions) {
    const { clock, sockets } = options;
    this.sleep = new WakeableSleep(clock);
    this.listening = new ListeningWatch({ ...sockets, clock, wake: () => this.sleep.wake() });
  }

  /** Replaces the checked services. An unchanged service keeps its state. */
  set(services: readonly CheckedService[]): void {
    const { clock, random = Math.random } = this.options;
    const wanted = new Map(services.map((service) => [formatKey(service), service]));
    const changed = new Set(services.map(({ dataplane }) => dataplane));
    for (const [key, { service }] of this.all) {
      if (JSON.stringify(wanted.get(key)) === JSON.stringify(service)) continue;
      this.all.delete(key);
      changed.add(service.dataplane);
    }
    for (const [key, service] of wanted) {
      if (this.all.has(key)) continue;
      const state = createHealthState(clock.now());
      const unchecked = { ...state, ready: true, reason: '' };
      const dueAt = clock.elapsed() + random() * FIRST_CHECKS;
      this.all.set(key, {
        service,
        dueAt,
        isRunning: false,
        isHere: isLocalAddress(service.target.address),
        wasListening: false,
        state: service.check ? state : unchecked,
      });
    }
    const local = [...this.all.values()].filter(({ isHere }) => isHere);
    this.listening.setTargets(local.map(({ service }) => service.target));
    for (const dataplane of changed) this.reportReadiness(dataplane);
  }

  /** Returns the readiness of the services of a Dataplane, by `mesh/name`. */
  readiness(dataplane: string): readonly InboundReadiness[] {
    return [...this.all.values()]
      .filter(({ service }) => service.dataplane === dataplane)
      .map(({ service: { inbound, check, target }, state: { ready, reason, since } }) => ({
        inbound,
        ready,
        since,
        reason: ready ? '' : reason,
        check: describeCheck(check, target),
      }))
      .sort((a, b) => a.inbound - b.inbound);
  }

  /** Checks until `signal` aborts; resolves when the last check has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    const checks = new Set<Promise<void>>();
    while (!signal.aborted) {
      this.checkSockets(await this.listening.look(signal));
      for (const one of this.selectDue()) {
        const check = this.check(one, signal);
        checks.add(check);
        void check.then(() => checks.delete(check));
      }
      await this.sleep.sleep(Math.max(0, this.nextDue() - clock.elapsed()), signal);
    }
    this.listening.close();
    await Promise.all(checks);
  }

  /** Returns when the next check or look at sockets is due, by `Clock.elapsed`. */
  private nextDue(): number {
    // A check that ends wakes the loop.
    if (this.running >= MAX_CONCURRENT) return this.listening.dueAt;
    const waiting = [...this.all.values()].filter(({ service, isRunning }) => service.check && !isRunning);
    return waiting.reduce((first, { dueAt }) => Math.min(first, dueAt), this.listening.dueAt);
  }

  /** Returns the services whose checks may begin now, the longest overdue first. */
  private selectDue(): readonly CheckState[] {
    const now = this.options.clock.elapsed();
    const due = [...this.all.values()].filter(
      ({ service, isRunning, dueAt }) => service.check && !isRunning && dueAt <= now,
    );
    return due.sort((a, b) => a.dueAt - b.dueAt).slice(0, Math.max(0, MAX_CONCURRENT - this.running));
  }

  private async check(one: CheckState, signal: AbortSignal): Promise<void> {
    const { clock, failed, random = Math.random } = this.options;
    const { service } = one;
    const { interval, timeout, thresholds } = readTimes(service.check);
    one.isRunning = true;
    this.running += 1;
    try {
      const signals = [signal, AbortSignal.timeout(timeout)];
      const result = await underSignals(signals, (either) => probe(service, either)).catch((error: unknown) => {
        failed(error);
        return failure(errorText(error));
      });
      if (signal.aborted || this.all.get(formatKey(service)) !== one) return;
      this.setState(one, applyCheckResult(one.state, result, thresholds, clock.now()));
    } finally {
      this.running -= 1;
      one.isRunning = false;
      one.dueAt = clock.elapsed() + interval * (1 + JITTER * (random() - 0.5));
      this.sleep.wake();
    }
  }

  /** Updates services whose listening socket appeared or disappeared, without waiting for their next check. */
  private checkSockets(sockets: SocketsByPort | undefined): void {
    const { clock } = this.options;
    if (!sockets) return;
    for (const one of this.all.values()) {
      if (!one.isHere) continue;
      const isThere = isListening(sockets, one.service.target);
      if (isThere === one.wasListening) continue;
      one.wasListening = isThere;
      one.dueAt = clock.elapsed();
      const result: CheckResult = isThere
        ? { ok: true }
        : failure(`nothing listens at port ${one.service.target.port} any more`, true);
      // A listening socket does not prove that the service works.
      if (isThere && one.service.check) continue;
      this.setState(one, applyCheckResult(one.state, result, { healthy: 1, unhealthy: 1 }, clock.now()));
    }
  }

  private setState(one: CheckState, state: HealthState): void {
    const { ready, reason } = one.state;
    one.state = state;
    if (state.ready !== ready || (!state.ready && state.reason !== reason)) this.reportReadiness(one.service.dataplane);
  }

  private reportReadiness(dataplane: string): void {
    this.options.changed(dataplane, this.readiness(dataplane));
  }
}

function formatKey({ dataplane, inbound }: CheckedService): string {
  return `${dataplane}#${inbound}`;
}

function readTimes(check: HealthCheckConfig | undefined) {
  return {
    interval: durationMs(check?.interval ?? '') ?? DEFAULT_INTERVAL,
    timeout: durationMs(check?.timeout ?? '') ?? DEFAULT_TIMEOUT,
    thresholds: { healthy: check?.healthyThreshold ?? 1, unhealthy: check?.unhealthyThreshold ?? 2 },
  };
}

function probe({ check, target }: CheckedService, signal: AbortSignal): Promise<CheckResult> {
  if (check?.http) {
    const { path, status = [], body = '' } = check.http;
    return probeHttp(target, { path, status, body }, signal);
  }
  if (check?.grpc) return probeGrpc(target, check.grpc.service, signal);
  if (check?.command) return probeCommand({ command: check.command, user: check.user }, signal);
  return probeTcp(target, signal);
}

function describeCheck(check: HealthCheckConfig | undefined, { address, port }: ProbeTarget): string {
  const at = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  if (!check) return `listening at ${at}`;
  if (check.http) return `http ${at}${check.http.path}`;
  if (check.grpc) return `grpc ${at}${check.grpc.service === '' ? '' : ` ${check.grpc.service}`}`;
  if (check.command) return `command ${check.command.join(' ')}`.slice(0, 256);
  return `tcp ${at}`;
}
