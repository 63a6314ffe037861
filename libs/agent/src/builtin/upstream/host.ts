import type { ClientTls } from '../decode/tls-settings';
import type { EjectionRule } from '../decode/clusters';
import type { Leg } from './splice';

/** Address and transport of a host, which identify it. */
export interface HostAssignment {
  readonly address: string;
  readonly port: number;
  readonly zone: string;
  readonly transport: ClientTls | 'plaintext';
}

/** Host of a cluster with its connections and failures. Times by `Clock.elapsed`. */
export class Host {
  isHealthy = true;
  readonly connections = new Set<Leg>();
  /** Connections being established. */
  connecting = 0;
  private failures = 0;
  private ejections = 0;
  private ejectedUntil = -Infinity;

  constructor(readonly assignment: HostAssignment) {}

  /** Load compared by least-request. */
  get load(): number {
    return this.connections.size + this.connecting;
  }

  isEjected(now: number): boolean {
    return now < this.ejectedUntil;
  }

  succeeded(): void {
    this.failures = 0;
  }

  /** Counts a connect failure; returns whether the host should be ejected. */
  failed({ failures }: EjectionRule): boolean {
    this.failures += 1;
    return this.failures >= failures;
  }

  /** Ejects the host; each ejection lasts longer, and quiet intervals shorten the next. Returns its duration, ms. */
  eject({ base, maxDuration: longest, interval }: EjectionRule, now: number): number {
    const quiet = Number.isFinite(this.ejectedUntil) ? Math.floor((now - this.ejectedUntil) / interval) : 0;
    this.ejections = Math.max(0, this.ejections - quiet) + 1;
    this.failures = 0;
    const duration = Math.min(longest, base * this.ejections);
    this.ejectedUntil = now + duration;
    return duration;
  }
}
