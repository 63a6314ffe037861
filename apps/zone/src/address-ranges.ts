import { exitWithProblems } from '@causeway/control-plane';
import { describeRange, parseRange, planRanges, type RangePlan } from '@causeway/ipam';
import type { MeshState, ZoneRanges } from '@causeway/meshes';
import type { Logger } from '@causeway/runtime';
import type { ZoneSettings } from './config';

/** The range of each kind of service as configured. */
export function configuredRanges(settings: ZoneSettings): Readonly<Record<string, string>> {
  return {
    MeshService: settings.CAUSEWAY_VIP_RANGE_MESHSERVICE,
    MeshExternalService: settings.CAUSEWAY_VIP_RANGE_MESHEXTERNALSERVICE,
    MeshMultiZoneService: settings.CAUSEWAY_VIP_RANGE_MESHMULTIZONESERVICE,
  };
}

/** All ranges in which services of a mesh may have their address: its own, and the zone's, where some may still be. */
export function listVirtualRanges(settings: ZoneSettings, own: MeshState['parameters'] | undefined): string[] {
  const ranges = [...Object.values(configuredRanges(settings)), ...Object.values(own?.vipRanges ?? {})];
  return [...new Set(ranges.flatMap((range) => (range === undefined ? [] : withoutHostBits(range))))];
}

function withoutHostBits(text: string): readonly string[] {
  const parsed = parseRange(text);
  const [, length = ''] = text.split('/');
  return parsed.ok ? [`${describeRange(parsed.range).split('-')[0]}/${length}`] : [];
}

/** With which ranges those of a mesh must agree. */
export function zoneRanges(settings: ZoneSettings): ZoneRanges {
  const ranges = Object.entries(configuredRanges(settings)).map(([owner, range]) => ({ owner, range }));
  return { settings: ranges, force: settings.CAUSEWAY_VIP_RANGE_FORCE };
}

/** Ends the program, a line a reason, when the ranges cannot stand together. */
export function checkRanges(settings: ZoneSettings): RangePlan & { readonly ok: true } {
  const { settings: ranges, force } = zoneRanges(settings);
  const plan = planRanges(ranges, { force });
  return plan.ok ? plan : exitWithProblems(plan.errors.map((reason) => `CAUSEWAY_VIP_RANGE: ${reason}`));
}

/** Says what was changed about the ranges so that they can stand together. */
export function warnOfRanges(plan: RangePlan & { readonly ok: true }, logger: Logger): void {
  for (const warning of plan.warnings) logger.warn('an address range was adjusted', { warning });
}
