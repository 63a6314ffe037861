import { exitWithProblems } from '@causeway/control-plane';
import { planRanges, type RangePlan } from '@causeway/ipam';
import type { ZoneRanges } from '@causeway/meshes';
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
