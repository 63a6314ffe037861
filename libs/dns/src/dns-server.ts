import type { DnsLookup } from '@causeway/api';
import { orAborted, type Clock, type Logger, type Tracer } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import { AnswerBuilder } from './answer/answer-builder';
import { Answers } from './answer/answers';
import { DirectNames, type EndpointSource } from './answer/direct-names';
import { explainLookup, readLookup } from './answer/explain-lookup';
import { RateLimit, Responder } from './answer/responder';
import { completeDnsConfig, type DnsConfig, type DnsSettings } from './dns-config';
import { DnsMetrics } from './dns-metrics';
import { Forwarder, type ForwarderOptions } from './forward/forwarder';
import { Resolvers } from './forward/resolvers';
import { Listeners } from './listen/listeners';
import { metricDefinitions, type DnsMetric } from './metric-definitions';
import { configuredSuffixes } from './table/authority';
import { FollowedNames } from './table/followed-names';
import { parseDnsName } from './wire/dns-name';

/** Dependencies of a DNS server. */
export interface DnsServerOptions {
  readonly index: IndexReader;
  /** Zone whose names the server answers. */
  readonly zone: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly config?: DnsSettings;
  /** Source of direct names; without it there are none. */
  readonly endpoints?: EndpointSource;
  readonly tracer?: Tracer | undefined;
}

/** A zone's DNS server. */
export interface DnsServer {
  /**
   * Listens on UDP and TCP at one port of `host`; port 0 chooses a port that is free for both. Resolves to the port
   * when the names of the index are loaded. Can be called for several addresses. Rejects if the port is in use.
   */
  bind(host: string, port: number): Promise<number>;
  /** Closes all listeners and connections, and stops following the index. */
  close(): Promise<void>;
  /** Returns the server's answer and the reason. The default type is A; for an address it is PTR. */
  lookup(name: string, type?: string): DnsLookup;
  /** The metrics of this server, for the registry of the program. */
  metrics(): readonly DnsMetric[];
}

/** Creates the server. It follows the index from this call on and answers no queries before `bind`. */
export function createDnsServer(options: DnsServerOptions): DnsServer {
  const parts = assemble(options);
  const { listeners, upstreams, rateLimit, names } = parts;
  const closing = new AbortController();
  return {
    bind: async (host, port) => {
      await orAborted(names.whenLoaded(), closing.signal);
      const bound = await listeners.open(host, port);
      // Loads the upstreams after the port is known, because a configured upstream may be this server.
      await upstreams.load();
      return bound;
    },
    close: async () => {
      closing.abort(new Error('the DNS server was closed'));
      names.close();
      rateLimit.close();
      await listeners.close();
    },
    lookup: (name, type) => explainLookup(readLookup(name, type), { zone: options.zone, ...parts }),
    metrics: () => metricDefinitions(parts),
  };
}

function assemble(options: DnsServerOptions) {
  const { clock, index, tracer } = options;
  const logger = options.logger.child({ part: 'dns' });
  const config: DnsConfig = completeDnsConfig(options.config ?? {});
  const { meshOrder } = config;
  const names = new FollowedNames({ index, meshOrder, suffixes: configuredSuffixes(config), logger, clock, tracer });
  const metrics = new DnsMetrics();
  const rateLimit = new RateLimit(config.limits.ratePerClient, clock);
  const builder = new AnswerBuilder(config.ttl, () => listeners.addresses());
  const { endpoints } = options;
  const suffix = parseDnsName(config.directSuffix) ?? '';
  const direct = endpoints && new DirectNames(suffix, { endpoints, names, ttl: Math.floor(config.ttl / 1_000) });
  const answers = new Answers({ names, builder, serial: () => names.serial, ...(direct && { direct }) });
  const isOwnAddress = (address: string, port: number): boolean => listeners.isOwnAddress(address, port);
  const upstreams = new Resolvers({ config: config.forward, clock, logger, isOwnAddress });
  const onSettled: ForwarderOptions['onSettled'] = (result, took) => metrics.forwarded(result, took);
  const forwarder = new Forwarder({ config: config.forward, upstreams, clock, onSettled });
  const responder = new Responder(answers, { metrics, resolver: forwarder, rateLimit, clock });
  const listeners: Listeners = new Listeners({
    respond: (packet, client) => responder.respond(packet, client),
    clock,
    config,
    metrics,
  });
  return { names, builder, answers, ...(direct && { direct }), metrics, rateLimit, upstreams, forwarder, listeners };
}
