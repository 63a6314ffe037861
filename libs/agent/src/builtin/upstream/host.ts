import type { ClientTls } from '../decode/tls-settings';
import type { EjectionRule } from '../decode/clusters';
import type { Leg } from './splice';

/** Address of a host and its transport: two hosts with equal places are one. */
export interface HostAssignment {
  readonly address: string;
  readonly port: number;
  readonly zone: string;
  readonly transport: ClientTls | 'plaintext';
}

/** One place where a cluster is served, with its connections and failures. Times by `Clock.elapsed`. */
export class Host {
  isHealthy = true;
  readonly connections = new Set<Leg>();
  /** Connections that are being made. */
  connecting = 0;
  private failures = 0;
  private ejections = 0;
  private ejectedUntil = -Infinity;

  constructor(readonly place: HostAssignment) {}

  /** Load that least-request compares. */
  get load(): number {
    return this.connections.size + this.connecting;
  }

  isEjected(now: number): boolean {
    return now < this.ejectedUntil;
  }

  succeeded(): void {
    this.failures = 0;
  }

  /** Counts a failure to connect; true where it is time to leave the host out. */
  failed({ failures }: EjectionRule): boolean {
    this.failures += 1;
    return this.failures >= failures;
  }

  /** Leaves the host out for longer each time, less long after a quiet while; returns for how long, ms. */
  eject({ base, maxDuration: longest, interval }: EjectionRule, now: number): number {
    const quiet = Number.isFinite(this.ejectedUntil) ? Math.floor((now - this.ejectedUntil) / interval) : 0;
    this.ejections = Math.max(0, this.ejections - quiet) + 1;
    this.failures = 0;
    const duration = Math.min(longest, base * this.ejections);
    this.ejectedUntil = now + duration;
    return duration;
  }
}
