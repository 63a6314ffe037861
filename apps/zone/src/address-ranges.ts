import { exitWithProblems } from '@causeway/control-plane';
import { describeRange, parseRange, planRanges, type RangePlan } from '@causeway/ipam';
import type { MeshState, ZoneRanges } from '@causeway/meshes';
import type { Logger } from '@causeway/runtime';
import type { ZoneSettings } from './config';

/** Returns the configured range of each kind of service. */
export function configuredRanges(settings: ZoneSettings): Readonly<Record<string, string>> {
  return {
    MeshService: settings.CAUSEWAY_VIP_RANGE_MESHSERVICE,
    MeshExternalService: settings.CAUSEWAY_VIP_RANGE_MESHEXTERNALSERVICE,
    MeshMultiZoneService: settings.CAUSEWAY_VIP_RANGE_MESHMULTIZONESERVICE,
  };
}

/** Returns all ranges in which services of a mesh may have addresses: its own, and the zone's, where some may still be. */
export function listVirtualRanges(settings: ZoneSettings, own: MeshState['parameters'] | undefined): string[] {
  const ranges = [...Object.values(configuredRanges(settings)), ...Object.values(own?.vipRanges ?? {})];
  return [...new Set(ranges.flatMap((range) => (range === undefined ? [] : withoutHostBits(range))))];
}

function withoutHostBits(text: string): readonly string[] {
  const parsed = parseRange(text);
  const [, length = ''] = text.split('/');
  return parsed.ok ? [`${describeRange(parsed.range).split('-')[0]}/${length}`] : [];
}

/** Returns the zone's ranges, with which those of a mesh must be compatible. */
export function zoneRanges(settings: ZoneSettings): ZoneRanges {
  const ranges = Object.entries(configuredRanges(settings)).map(([owner, range]) => ({ owner, range }));
  return { settings: ranges, force: settings.CAUSEWAY_VIP_RANGE_FORCE };
}

/** Ends the program, with one line for each reason, if the ranges contradict each other. */
export function checkRanges(settings: ZoneSettings): RangePlan & { readonly ok: true } {
  const { settings: ranges, force } = zoneRanges(settings);
  const plan = planRanges(ranges, { force });
  return plan.ok ? plan : exitWithProblems(plan.errors.map((reason) => `CAUSEWAY_VIP_RANGE: ${reason}`));
}

/** Logs the changes that made the ranges compatible. */
export function warnOfRanges(plan: RangePlan & { readonly ok: true }, logger: Logger): void {
  for (const warning of plan.warnings) logger.warn('an address range was adjusted', { warning });
}
