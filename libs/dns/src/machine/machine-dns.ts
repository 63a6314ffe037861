import type { Clock, Logger } from '@causeway/runtime';
import { AnswerBuilder } from '../answer/answer-builder';
import { Answers } from '../answer/answers';
import { RateLimit, Responder } from '../answer/responder';
import { completeDnsConfig, type DnsSettings } from '../dns-config';
import { DnsMetrics } from '../dns-metrics';
import type { DnsServer } from '../dns-server';
import { explainLookup, readLookup } from '../answer/explain-lookup';
import { Forwarder } from '../forward/forwarder';
import { Resolvers } from '../forward/resolvers';
import { Listeners } from '../listen/listeners';
import { metricDefinitions } from '../metric-definitions';
import { Authority, configuredSuffixes } from '../table/authority';
import { NameTable } from '../table/name-table';
import { LearnedNames, type LearnedNameSource } from './learned-names';

/** Dependencies of the DNS server of a host. */
export interface MachineDnsOptions {
  readonly source: LearnedNameSource;
  /** Zone of the host, for explanations. */
  readonly zone: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Names under `suffixes` are resolved by the source; others by the upstreams. */
  readonly config: DnsSettings;
}

/**
 * Creates the DNS server of a host. It works like that of a zone, but requests each name from the source on the first
 * query. It answers no queries before `bind`.
 */
export function createMachineDns({ source, zone, clock, logger, config: settings }: MachineDnsOptions): DnsServer {
  const config = completeDnsConfig(settings);
  const table = new NameTable(config.meshOrder);
  const authority = new Authority(configuredSuffixes(config));
  const metrics = new DnsMetrics();
  const rateLimit = new RateLimit(config.limits.ratePerClient, clock);
  const builder = new AnswerBuilder(config.ttl, () => listeners.addresses());
  let changes = 0;
  const answers = new Answers({ names: { table, authority }, builder, serial: () => changes });
  const upstreams = new Resolvers({
    config: config.forward,
    clock,
    logger: logger.child({ part: 'dns' }),
    isOwnAddress: (address, port) => listeners.isOwnAddress(address, port),
  });
  const forwarder = new Forwarder({
    config: config.forward,
    upstreams,
    clock,
    onSettled: (result, took) => metrics.forwarded(result, took),
  });
  const names = new LearnedNames({ source, table, authority, answers, metrics, others: forwarder });
  const responder = new Responder(names, { metrics, resolver: names, rateLimit, clock });
  const listeners: Listeners = new Listeners({
    clock,
    config,
    metrics,
    respond: (packet, client) => responder.respond(packet, client),
  });
  const unfollow = [names.follow(), source.subscribe(() => void (changes += 1))];
  return {
    bind: async (host, port) => {
      const bound = await listeners.open(host, port);
      await upstreams.load();
      return bound;
    },
    close: async () => {
      unfollow.forEach((each) => each());
      rateLimit.close();
      await listeners.close();
    },
    lookup: (name, type) =>
      explainLookup(readLookup(name, type), { zone, answers, names: { table, authority }, upstreams }),
    metrics: () => metricDefinitions({ metrics, names: { table, changes }, listeners, builder, upstreams, forwarder }),
  };
}
