import { createServer, type Server } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { DnsServer } from '@causeway/dns';
import type { Clock, Logger } from '@causeway/runtime';
import type { NetworkStatus } from '../capture/machine-network';
import type { AgentConfig } from '../config/schema';
import { createAgentDns } from '../names/agent-names';
import { renderMetrics, renderNetworkMetrics } from './agent-metrics';
import { formatNodeId, type MachineProxy } from './machine-proxy';

export interface MachineListenersOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Running proxies; the first is the one that captures the machine's connections. */
  readonly proxies: () => readonly MachineProxy[];
  readonly network: () => NetworkStatus;
  /** Suffixes of the mesh's names, if the configuration has none. */
  readonly suffixes: () => readonly string[];
}

/**
 * Listeners of the agent on loopback besides its proxies: DNS and metrics. Each is restarted when its part of the
 * configuration changes.
 */
export class MachineListeners {
  private dns: { readonly facts: unknown; readonly server: DnsServer } | undefined;
  private metrics: { readonly facts: unknown; readonly server: Server } | undefined;

  constructor(private readonly options: MachineListenersOptions) {}

  /** Address of the DNS server; undefined if it does not run. */
  get dnsAddress(): string | undefined {
    return this.dns && typeof this.dns.facts === 'object' ? readAddress(this.dns.facts) : undefined;
  }

  /** Applies a configuration to both. Rejects if one cannot listen; the other one runs. */
  async apply(config: AgentConfig, zone: string): Promise<void> {
    const results = await Promise.allSettled([this.applyDns(config, zone), this.applyMetrics(config.metrics)]);
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
    if (failures.length > 0) throw new Error(failures.join('; '));
  }

  async close(): Promise<void> {
    await this.endDns();
    await this.endMetrics();
  }

  private async applyDns({ dns, capture }: AgentConfig, zone: string): Promise<void> {
    const [first] = this.options.proxies();
    const resources = first?.plan.type === 'dataplane' ? first.cache : undefined;
    const suffixes = dns?.suffixes ?? this.options.suffixes();
    const facts = dns && resources && { ...dns, suffixes, capture, zone, resources };
    const listeners = first?.onDemand;
    if (this.dns && facts && isSame(this.dns.facts, facts)) return;
    await this.endDns();
    if (!dns || !facts || !resources) return;
    const { clock, logger } = this.options;
    const server = createAgentDns({ ...dns, suffixes, capture, zone, resources, listeners, clock, logger });
    await server.bind(dns.address, dns.port).catch(async (error: unknown) => {
      await server.close();
      throw error;
    });
    this.dns = { facts, server };
  }

  private async applyMetrics(at: AgentConfig['metrics']): Promise<void> {
    if (this.metrics && isDeepStrictEqual(this.metrics.facts, at)) return;
    await this.endMetrics();
    if (!at) return;
    const server = createServer((asked, answer) => {
      const id = /^\/metrics(?:\/([^/?]+))?$/.exec(asked.url ?? '');
      if (asked.method !== 'GET' || !id) return void answer.writeHead(404).end();
      void this.formatMetrics(id[1]).then((text) => {
        if (text === undefined) answer.writeHead(404).end();
        else answer.setHeader('content-type', 'text/plain; version=0.0.4').end(text);
      });
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(at.port, at.address, resolve);
    });
    this.metrics = { facts: at, server };
  }

  /** Returns the metrics of one proxy; without an id, those of all and the first one's dataplane. */
  private async formatMetrics(id: string | undefined): Promise<string | undefined> {
    const proxies = this.options.proxies();
    if (id !== undefined) {
      const one = proxies.find(({ plan }) => formatNodeId(plan) === id);
      return one && renderMetrics(one, [one]);
    }
    return [renderNetworkMetrics(this.options.network()), await renderMetrics(proxies[0], proxies)].join('\n');
  }

  private async endDns(): Promise<void> {
    const { dns } = this;
    this.dns = undefined;
    await dns?.server.close();
  }

  private async endMetrics(): Promise<void> {
    const { metrics } = this;
    this.metrics = undefined;
    if (!metrics) return;
    const closed = new Promise<void>((resolve) => metrics.server.close(() => resolve()));
    metrics.server.closeAllConnections();
    await closed;
  }
}

/** Compares caches by reference: another cache means another proxy. */
function isSame(a: unknown, b: { readonly resources: unknown }): boolean {
  if (typeof a !== 'object' || a === null || !('resources' in a) || a.resources !== b.resources) return false;
  return isDeepStrictEqual({ ...a, resources: 0 }, { ...b, resources: 0 });
}

function readAddress(facts: object | null): string | undefined {
  return facts && 'address' in facts && 'port' in facts ? `${String(facts.address)}:${String(facts.port)}` : undefined;
}
