import { createServer, type Server } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { DnsServer } from '@causeway/dns';
import type { Clock, Logger } from '@causeway/runtime';
import type { NetworkStatus } from '../capture/machine-network';
import { BuiltinPlane } from '../builtin/builtin-plane';
import { prometheusText } from '../builtin/stats';
import type { AgentConfig } from '../config/schema';
import { EnvoyPlane } from '../envoy/envoy-plane';
import { createAgentDns } from '../names/agent-names';
import { nodeIdOf, type MachineProxy } from './machine-proxy';

export interface MachineListenersOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The proxies that run, the one that catches the machine's connections first. */
  readonly proxies: () => readonly MachineProxy[];
  readonly network: () => NetworkStatus;
  /** Of the mesh's names, where the configuration has none. */
  readonly suffixes: () => readonly string[];
}

/** What the agent answers on loopback besides its proxies: names and metrics. Each is begun anew where its part of the configuration differs. */
export class MachineListeners {
  private dns: { readonly facts: unknown; readonly server: DnsServer } | undefined;
  private metrics: { readonly facts: unknown; readonly server: Server } | undefined;

  constructor(private readonly options: MachineListenersOptions) {}

  /** Where names are answered; undefined where they are not. */
  get dnsAddress(): string | undefined {
    return this.dns && typeof this.dns.facts === 'object' ? addressIn(this.dns.facts) : undefined;
  }

  /** Brings both to a configuration. Rejects where one cannot listen; the other one runs. */
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
    if (this.dns && facts && isSame(this.dns.facts, facts)) return;
    await this.endDns();
    if (!dns || !facts || !resources) return;
    const { clock, logger } = this.options;
    const server = createAgentDns({ ...dns, suffixes, capture, zone, resources, clock, logger });
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
      void this.metricsText(id[1]).then((text) => {
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

  /** Of one proxy; without an id what the agent says of all, with what the plane of the first says. */
  private async metricsText(id: string | undefined): Promise<string | undefined> {
    const proxies = this.options.proxies();
    if (id !== undefined) {
      const one = proxies.find(({ plan }) => nodeIdOf(plan) === id);
      return one && metricsOf(one, [one]);
    }
    const text = await metricsOf(proxies[0], proxies);
    return [...networkMetrics(this.options.network()), text].join('\n');
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

/** The caches are compared as objects: another one is another proxy. */
function isSame(a: unknown, b: { readonly resources: unknown }): boolean {
  if (typeof a !== 'object' || a === null || !('resources' in a) || a.resources !== b.resources) return false;
  return isDeepStrictEqual({ ...a, resources: 0 }, { ...b, resources: 0 });
}

function addressIn(facts: object | null): string | undefined {
  return facts && 'address' in facts && 'port' in facts ? `${String(facts.address)}:${String(facts.port)}` : undefined;
}

async function metricsOf(one: MachineProxy | undefined, proxies: readonly MachineProxy[]): Promise<string> {
  return [...agentMetrics(proxies), one ? await planeMetrics(one) : ''].join('\n');
}

async function planeMetrics({ plane }: MachineProxy): Promise<string> {
  if (plane instanceof EnvoyPlane) return plane.metrics().catch(() => '');
  return plane instanceof BuiltinPlane ? prometheusText(await plane.stats()) : '';
}

function networkMetrics({ problem, restored }: NetworkStatus): readonly string[] {
  return [
    '# HELP causeway_agent_network_ready Whether rules and routes of the machine are as they should be.',
    '# TYPE causeway_agent_network_ready gauge',
    `causeway_agent_network_ready ${Number(problem === undefined)}`,
    '# HELP causeway_agent_network_restored_total How often somebody had removed or changed rules or routes.',
    '# TYPE causeway_agent_network_restored_total counter',
    `causeway_agent_network_restored_total ${restored}`,
  ];
}

/** What the agent says of its proxies, by their node id. */
function agentMetrics(proxies: readonly MachineProxy[]): readonly string[] {
  const gauges: readonly (readonly [name: string, help: string, read: (proxy: MachineProxy) => number | undefined])[] =
    [
      ['connected', 'Whether a control plane is connected', (one) => Number(one.controlPlane?.type === 'connected')],
      ['plane_serving', 'Whether the plane serves', ({ plane }) => Number(plane.state.type === 'serving')],
      [
        'plane_unobeyed',
        'Parts of what the zone says that the plane cannot do',
        ({ plane }) => plane.unobeyed?.length ?? 0,
      ],
      ['plane_processes', 'Processes of the builtin plane', ({ plane }) => plane.processes?.pids.length],
      [
        'plane_process_restarts',
        'Processes that ended and were started again',
        ({ plane }) => plane.processes?.restarts,
      ],
      ['cache_bytes', 'Bytes of resources held', ({ cache }) => cache.size.bytes],
      [
        'certificate_end_seconds',
        'When the certificate ends, seconds since 1970',
        ({ certificate }) => certificate && certificate.notAfter / 1_000,
      ],
    ];
  return gauges.flatMap(([name, help, read]) => [
    `# HELP causeway_agent_${name} ${help}.`,
    `# TYPE causeway_agent_${name} gauge`,
    ...proxies.flatMap((proxy) => {
      const value = read(proxy);
      return value === undefined ? [] : [`causeway_agent_${name}{proxy="${nodeIdOf(proxy.plan)}"} ${value}`];
    }),
  ]);
}
