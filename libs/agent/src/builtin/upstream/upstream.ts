import { Backoff, type Clock } from '@causeway/runtime';
import type { DecodedCluster } from '../decode/clusters';
import type { EndpointLocality } from '../decode/endpoints';
import type { Forwarding } from '../decode/filters';
import { reset, type Leg } from './splice';
import type { Stats } from '../stats';
import type { TlsContexts } from '../tls/tls-material';
import { dial, type DialFailure } from './dial';
import type { Host } from './host';
import { HostSet, type Addresses } from './host-set';

/** Shared by upstreams. */
export interface UpstreamTools {
  readonly clock: Clock;
  readonly contexts: TlsContexts;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

/** Connection to a host, or why there is none. */
export type Connected = ({ readonly ok: true } & Leg) | { readonly ok: false; readonly reason: string };

/** Cluster in use: connects to its hosts and ejects those that cannot be reached. */
export class Upstream {
  private readonly hosts: HostSet;
  private active = 0;

  constructor(
    private plan: DecodedCluster,
    private readonly stats: Stats,
    private readonly tools: UpstreamTools,
  ) {
    this.hosts = new HostSet(() => tools.clock.elapsed(), tools.random);
  }

  get name(): string {
    return this.plan.name;
  }

  update(plan: DecodedCluster, localities: readonly EndpointLocality[], addresses: Addresses): void {
    this.plan = plan;
    this.hosts.update(plan, localities, addresses);
    this.count();
  }

  /** Connects to a host. Tries other hosts first after a failure, then the same ones again with backoff. */
  async connect({ attempts, pause }: Pick<Forwarding, 'attempts' | 'pause'>, signal: AbortSignal): Promise<Connected> {
    const backoff = new Backoff(pause);
    const tried = new Set<Host>();
    let reason = 'it has no endpoint that can serve';
    for (let n = 0; n < attempts && !signal.aborted; n++) {
      if (this.active >= this.plan.maxConnections)
        return this.refuse('upstream_cx_overflow', 'it has too many connections');
      const host = this.hosts.pick(tried);
      if (!host) break;
      if (tried.has(host)) await this.tools.clock.sleep(backoff.next(), signal);
      tried.add(host);
      const leg = await this.attempt(host, signal);
      if (typeof leg !== 'string') return { ok: true, ...leg };
      reason = leg;
    }
    if (tried.size === 0) return this.refuse('upstream_cx_none_healthy', reason);
    this.stats.add('upstream_cx_connect_attempts_exceeded');
    return { ok: false, reason };
  }

  private refuse(counter: string, reason: string): Connected {
    this.stats.add(counter);
    return { ok: false, reason };
  }

  /** Returns a connection, or the reason of the failure. */
  private async attempt(host: Host, signal: AbortSignal): Promise<Leg | string> {
    const { clock, contexts } = this.tools;
    host.connecting += 1;
    this.stats.add('upstream_cx_total');
    const dialled = await dial(host.assignment, { contexts, clock, timeout: this.plan.connectTimeout, signal });
    host.connecting -= 1;
    if (dialled.ok) {
      if (host.assignment.transport !== 'plaintext') this.stats.add('ssl.handshake');
      host.succeeded();
      const leg = { socket: dialled.socket, raw: dialled.raw };
      this.hold(host, leg);
      return leg;
    }
    if (!signal.aborted) this.failed(host, dialled.failure);
    return `${host.assignment.address}:${host.assignment.port}: ${dialled.reason}`;
  }

  private hold(host: Host, leg: Leg): void {
    this.active += 1;
    host.connections.add(leg);
    this.stats.set('upstream_cx_active', this.active);
    leg.raw.once('close', () => {
      this.active -= 1;
      host.connections.delete(leg);
      this.stats.set('upstream_cx_active', this.active);
      this.stats.add('upstream_cx_destroy');
    });
  }

  private failed(host: Host, failure: DialFailure): void {
    this.stats.add('upstream_cx_connect_fail');
    if (failure === 'timeout') this.stats.add('upstream_cx_connect_timeout');
    if (failure.startsWith('ssl.')) this.stats.add(failure);
    const { ejection } = this.plan;
    // A certificate that this machine lacks is no fault of the host.
    if (!ejection || failure === 'no material' || !host.failed(ejection) || !this.mayEject(ejection.maxPercent)) return;
    this.eject(host, host.eject(ejection, this.tools.clock.elapsed()));
  }

  private mayEject(mostPercent: number): boolean {
    const now = this.tools.clock.elapsed();
    const ejected = [...this.hosts.all].filter((host) => host.isEjected(now)).length;
    return ejected === 0 || (100 * (ejected + 1)) / this.hosts.size <= mostPercent;
  }

  private eject(host: Host, ms: number): void {
    this.stats.add('outlier_detection.ejections_enforced_total');
    this.hosts.changed();
    this.count();
    this.tools.clock.after(ms + 1, () => {
      this.hosts.changed();
      this.count();
    });
    if (this.plan.closesOnFailure) for (const leg of host.connections) reset(leg);
  }

  private count(): void {
    const now = this.tools.clock.elapsed();
    this.stats.set('membership_total', this.hosts.size);
    this.stats.set('membership_healthy', this.hosts.healthy);
    const ejected = [...this.hosts.all].filter((host) => host.isEjected(now)).length;
    if (this.plan.ejection) this.stats.set('outlier_detection.ejections_active', ejected);
  }
}
