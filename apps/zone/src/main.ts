import {
  defaultsReadiness,
  bootstrap,
  exitOnError,
  propagationSeconds,
  openListeners,
  syncMetrics,
  type SyncReports,
} from '@causeway/control-plane';
import type { ControlPlane } from '@causeway/resources';
import type { Insights, SyncDecisions } from '@causeway/queries';
import { checkRanges, warnOfRanges } from './address-ranges';
import { zoneConfig } from './config';
import { bindDns, createDns, dnsSettings } from './dns';
import { zoneMetrics } from './metrics';
import { readGlobalAddress, warnOfTrust } from './global-address';
import { ZoneLeader } from './zone-leader';

/** Runs a zone's control plane until it is told to end. */
async function main(): Promise<void> {
  const { values: settings, redacted: shown, unknownVariables: ignored } = zoneConfig();
  const zone = settings.CAUSEWAY_ZONE_NAME;
  const [global, ranges, dnsConfig] = [readGlobalAddress(settings), checkRanges(settings), dnsSettings(settings)];
  const cp: ControlPlane = { role: 'zone', zone, federated: global !== undefined };
  const foundations = await bootstrap({ cp, settings, redacted: shown, unknownVariables: ignored });
  const { logger, election, life } = foundations;
  warnOfRanges(ranges, logger);
  if (global) warnOfTrust(global, logger);
  const propagation = propagationSeconds();
  const propagated = (kind: string, age: number): void => propagation.observe({ kind }, age / 1_000);
  const leader = new ZoneLeader(foundations, { settings, global, propagated });
  const dns = createDns(foundations, zone, dnsConfig);
  const reports = (): SyncReports => new Map([[zone, leader.session()?.kinds ?? []]]);
  const metrics = [...zoneMetrics(leader), ...syncMetrics(reports, foundations.clock), ...dns.metrics()];
  const dnsLookup: Insights['dnsLookup'] = ({ name, type }) => dns.lookup(name, type);
  const notReady = defaultsReadiness(foundations);
  logger.info('answering names', { dns: await exitOnError(bindDns(dns, settings)) });
  const insights: Insights = { dnsLookup, insightOf: (resource) => leader.insightOf(resource) };
  const syncDecisions: SyncDecisions = global ? { confirmGlobal: () => leader.confirmGlobal() } : {};
  const histograms = [propagation];
  const shows = { insights, metrics, histograms, notReady, syncDecisions };
  const served = await openListeners(foundations, { settings, redacted: shown, ...shows });
  await election.run((term) => leader.lead(term), life.signal);
  await served.close();
  await dns.close();
  await foundations.close();
  logger.info('ended');
}

void main();
