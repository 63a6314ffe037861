import {
  awaitDefaults,
  layFoundations,
  orFail,
  propagationSeconds,
  serve,
  syncFigures,
  type SyncReports,
} from '@causeway/control-plane';
import type { ControlPlane } from '@causeway/resources';
import type { Insights, SyncDecisions } from '@causeway/rest';
import { checkRanges, warnOfRanges } from './address-ranges';
import { zoneConfig } from './config';
import { bindDns, createDns, dnsSettings } from './dns';
import { zoneFigures } from './figures';
import { readGlobalAddress, warnOfTrust } from './global-address';
import { ZoneLeader } from './lead';

/** Runs a zone's control plane until it is told to end. */
async function main(): Promise<void> {
  const { values: settings, shown, ignored } = zoneConfig();
  const zone = settings.CAUSEWAY_ZONE_NAME;
  const [global, ranges, dnsConfig] = [readGlobalAddress(settings), checkRanges(settings), dnsSettings(settings)];
  const cp: ControlPlane = { role: 'zone', zone, federated: global !== undefined };
  const foundations = await layFoundations({ cp, settings, shown, ignored });
  const { logger, election, life } = foundations;
  warnOfRanges(ranges, logger);
  if (global) warnOfTrust(global, logger);
  const propagation = propagationSeconds();
  const propagated = (kind: string, age: number): void => propagation.observe({ kind }, age / 1_000);
  const leader = new ZoneLeader(foundations, { settings, global, propagated });
  const dns = createDns(foundations, zone, dnsConfig);
  const reports = (): SyncReports => new Map([[zone, leader.session()?.kinds ?? []]]);
  const figures = [...zoneFigures(leader), ...syncFigures(reports, foundations.clock), ...dns.figures()];
  const dnsLookup: Insights['dnsLookup'] = ({ name, type }) => dns.lookup(name, type);
  const notReady = awaitDefaults(foundations);
  logger.info('answering names', { dns: await orFail(bindDns(dns, settings)) });
  const insights: Insights = { dnsLookup, insightOf: (resource) => leader.insightOf(resource) };
  const syncDecisions: SyncDecisions = global ? { confirmGlobal: () => leader.confirmGlobal() } : {};
  const distributions = [propagation];
  const shows = { insights, figures, distributions, notReady, syncDecisions };
  const served = await serve(foundations, { settings, shown, ...shows });
  await election.run((term) => leader.lead(term), life.signal);
  await served.close();
  await dns.close();
  await foundations.close();
  logger.info('ended');
}

void main();
