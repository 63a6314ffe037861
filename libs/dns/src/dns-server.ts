import type { JsonObject } from '@causeway/resources';
import type { Clock, Logger } from '@causeway/runtime';
import type { ResourceIndex } from '@causeway/store';
import { Answers } from './answer/answers';
import { explainLookup, readLookup } from './answer/explain-lookup';
import { AnswerBuilder } from './answer/answer-builder';
import { Responder } from './answer/responder';
import { DnsMetrics } from './dns-metrics';
import { completeDnsConfig, type DnsConfig, type DnsSettings } from './dns-config';
import { metricDefinitions, type DnsMetric } from './metric-definitions';
import { Listeners } from './listen/listeners';
import { Authority } from './table/authority';
import { RateLimit } from './listen/rate-limit';
import { Forwarder, type ForwarderOptions } from './forward/forwarder';
import { Upstreams } from './forward/upstreams';
import { NameTableUpdater } from './table/name-table-updater';
import { NameTable } from './table/name-table';
import { configuredSuffixes } from './table/own-suffixes';

/** What a DNS server works with. */
export interface DnsServerOptions {
  readonly index: ResourceIndex;
  /** The zone that answers. */
  readonly zone: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly config?: DnsSettings;
}

/** A zone's DNS server. */
export interface DnsServer {
  /**
   * Answers on UDP and TCP at one port of an address, 0 = one that is free for both; resolves to the port. Can be
   * called for several addresses. Rejects when the port is taken.
   */
  bind(host: string, port: number): Promise<number>;
  /** Ends all that `bind` began, open connections included, and stops following the index. */
  close(): Promise<void>;
  /** What would be answered, and why; without a type A is asked, and of an address who has it. */
  lookup(name: string, type?: string): JsonObject;
  /** What it has done, for metrics. */
  metrics(): readonly DnsMetric[];
}

/** Builds the server; it follows the index from now on, and answers nobody before `bind`, which waits for the names. */
export function createDnsServer(options: DnsServerOptions): DnsServer {
  const parts = assemble(options);
  const { doors, upstreams, rate, feed } = parts;
  const unfollow = feed.follow();
  return {
    bind: async (host, port) => {
      await feed.loaded();
      const bound = await doors.open(host, port);
      // Only now: an upstream may turn out to be ourselves.
      await upstreams.load();
      return bound;
    },
    close: async () => {
      unfollow();
      rate.close();
      await doors.close();
    },
    lookup: (name, type) => explainLookup(readLookup(name, type), { zone: options.zone, ...parts }),
    metrics: () => metricDefinitions(parts),
  };
}

function assemble(options: DnsServerOptions) {
  const { clock, index } = options;
  const logger = options.logger.child({ part: 'dns' });
  const config: DnsConfig = completeDnsConfig(options.config ?? {});
  const table = new NameTable(config.meshOrder);
  const authority = new Authority(configuredSuffixes(config));
  const feed = new NameTableUpdater(index, { table, authority, logger });
  const tally = new DnsMetrics();
  const rate = new RateLimit(config.limits.ratePerAsker, clock);
  const records = new AnswerBuilder(config.ttl, () => doors.addresses());
  const answers = new Answers({ table, authority, builder: records, serial: () => feed.serial });
  const leadsHere = (address: string, port: number): boolean => doors.isOwnAddress(address, port);
  const upstreams = new Upstreams({ config: config.forward, clock, logger, isOwnAddress: leadsHere });
  const settled: ForwarderOptions['settled'] = (result, took) => tally.forwarded(result, took);
  const forwarder = new Forwarder({ config: config.forward, upstreams, clock, settled });
  const responder = new Responder(answers, { metrics: tally, resolver: forwarder, rate, clock });
  const doors: Listeners = new Listeners({
    respond: (packet, arrival) => responder.respond(packet, arrival),
    clock,
    config,
    metrics: tally,
  });
  return { table, authority, feed, tally, rate, records, answers, upstreams, forwarder, doors };
}
