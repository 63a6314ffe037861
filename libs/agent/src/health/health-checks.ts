import { durationMs } from '@causeway/resources';
import { errorText, underSignals, type Clock } from '@causeway/runtime';
import type { HealthCheckConfig } from '../config/schema';
import type { InboundReadiness } from '../lease/lease-holder';
import { probeCommand } from './command-probe';
import { initialHealth, nextHealth, type CheckResult, type HealthState } from './health-state';
import { isAddressHere, isListening, listeningByPort, type SocketsByPort } from './listening-sockets';
import { failure, probeGrpc, probeHttp, probeTcp, type ProbeTarget } from './probes';

/** A service of a Dataplane that is looked after. */
export interface CheckedService {
  /** `mesh/name` of the Dataplane. */
  readonly dataplane: string;
  /** Its place in `networking.inbound`. */
  readonly inbound: number;
  /** Address of the process. */
  readonly target: ProbeTarget;
  /** Undefined: nothing is asked; it is not ready while nothing listens where something has listened before. */
  readonly check: HealthCheckConfig | undefined;
}

export interface HealthChecksOptions {
  readonly clock: Clock;
  /** The readiness of a Dataplane's services has changed. */
  readonly changed: (dataplane: string, health: readonly InboundReadiness[]) => void;
  /** A mistake of ours. */
  readonly failed: (error: unknown) => void;
  /** See `listeningByPort`; of this machine unless a test says otherwise. */
  readonly listening?: () => Promise<SocketsByPort | undefined>;
  /** 0 ≤ x < 1; Math.random unless a test says otherwise. */
  readonly random?: () => number;
}

interface Watched {
  service: CheckedService;
  state: HealthState;
  /** Time of the next check, by `Clock.elapsed`. */
  dueAt: number;
  isRunning: boolean;
  /** It listens at an address of this machine. */
  readonly isHere: boolean;
  /** Something has listened at its address and port. */
  wasListening: boolean;
}

/** Interval at which due checks and listening sockets are looked for, ms. */
const TICK = 250;
/** Maximum number of concurrent checks: each is a connection or a process. */
const MAX_CONCURRENT = 16;
/** Checks are spread over this share of their interval. */
const JITTER = 0.1;
const INTERVAL = 10_000;
const TIMEOUT = 2_000;

/**
 * Looks after the services of a machine: each is checked every interval, one check of a service at a time, 16 of all. Besides, the sockets
 * that listen are read four times a second: a process that dies is not ready at once, whatever its interval is.
 */
export class HealthChecks {
  private readonly all = new Map<string, Watched>();
  private running = 0;

  constructor(private readonly options: HealthChecksOptions) {}

  /** From now on these are looked after. One that is as before keeps what is known of it. */
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
      const state = initialHealth(clock.now());
      const unchecked = { ...state, ready: true, reason: '' };
      const dueAt = clock.elapsed() + random() * TICK;
      this.all.set(key, {
        service,
        dueAt,
        isRunning: false,
        isHere: isAddressHere(service.target.address),
        wasListening: false,
        state: service.check ? state : unchecked,
      });
    }
    for (const dataplane of changed) this.tell(dataplane);
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
      await this.lookAtSockets();
      for (const one of this.due()) {
        const check = this.check(one, signal);
        checks.add(check);
        void check.then(() => checks.delete(check));
      }
      await clock.sleep(TICK, signal);
    }
    await Promise.all(checks);
  }

  /** The services whose checks may begin now, those first that have waited longest. */
  private due(): readonly Watched[] {
    const now = this.options.clock.elapsed();
    const due = [...this.all.values()].filter(
      ({ service, isRunning, dueAt }) => service.check && !isRunning && dueAt <= now,
    );
    return due.sort((a, b) => a.dueAt - b.dueAt).slice(0, Math.max(0, MAX_CONCURRENT - this.running));
  }

  private async check(one: Watched, signal: AbortSignal): Promise<void> {
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
      this.take(one, nextHealth(one.state, result, thresholds, clock.now()));
    } finally {
      this.running -= 1;
      one.isRunning = false;
      one.dueAt = clock.elapsed() + interval * (1 + JITTER * (random() - 0.5));
    }
  }

  /** Checks services whose socket appeared or disappeared at once. */
  private async lookAtSockets(): Promise<void> {
    const { listening = listeningByPort, clock } = this.options;
    const sockets = await listening();
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
      // // A listening socket does not prove that the service works.
      if (isThere && one.service.check) continue;
      this.take(one, nextHealth(one.state, result, { healthy: 1, unhealthy: 1 }, clock.now()));
    }
  }

  private take(one: Watched, state: HealthState): void {
    const { ready, reason } = one.state;
    one.state = state;
    if (state.ready !== ready || (!state.ready && state.reason !== reason)) this.tell(one.service.dataplane);
  }

  private tell(dataplane: string): void {
    this.options.changed(dataplane, this.readiness(dataplane));
  }
}

function formatKey({ dataplane, inbound }: CheckedService): string {
  return `${dataplane}#${inbound}`;
}

function readTimes(check: HealthCheckConfig | undefined) {
  return {
    interval: durationMs(check?.interval ?? '') ?? INTERVAL,
    timeout: durationMs(check?.timeout ?? '') ?? TIMEOUT,
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

/** Describes a check in a few words. */
function describeCheck(check: HealthCheckConfig | undefined, { address, port }: ProbeTarget): string {
  const at = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  if (!check) return `listening at ${at}`;
  if (check.http) return `http ${at}${check.http.path}`;
  if (check.grpc) return `grpc ${at}${check.grpc.service === '' ? '' : ` ${check.grpc.service}`}`;
  if (check.command) return `command ${check.command.join(' ')}`.slice(0, 256);
  return `tcp ${at}`;
}
