import { identityKey, type Condition, type Resource } from '@causeway/resources';
import { namesOf, type ProgressSource } from '../progress/progress';
import { RESCAN } from '@causeway/loops';
import { UNSUPPORTED_BY_KUMA } from '../routes/programmed';
import type { KumaPolicies } from './kuma-policies';

/** What the status of policies says of zones of Kuma. */
export class NotTranslatedCondition {
  private zones: readonly string[] | undefined;

  constructor(
    private readonly progress: Pick<ProgressSource, 'untold'> | undefined,
    private readonly told: KumaPolicies | undefined,
  ) {}

  /** The keys of policies of which something else is to be said since the call before. */
  stale(): readonly (string | typeof RESCAN)[] {
    const said = this.told?.takeSaid() ?? [];
    const zones = this.progress?.untold?.();
    const isSame = zones === undefined || this.zones?.join(' ') === zones.join(' ');
    if (zones) this.zones = zones;
    return isSame ? said : [RESCAN];
  }

  /** `absent` where there is nothing to say; undefined where that is not known, so that what was said stays. */
  of({ id, generation }: Pick<Resource, 'id' | 'generation'>): Condition | 'absent' | undefined {
    const zones = this.progress?.untold?.();
    if (!this.told || !zones) return undefined;
    if (zones.length === 0) return 'absent';
    const why = this.told.reasonOf(identityKey(id));
    if (why === undefined) return undefined;
    if (why === '') return 'absent';
    const who = namesOf({ acked: 0, total: zones.length, waitingFor: zones });
    const message = `zones of Kuma are not told all of it, and their proxies do not obey the rest: ${who}; ${why}`;
    return {
      type: UNSUPPORTED_BY_KUMA,
      status: 'True',
      reason: 'NotExpressible',
      message,
      observedGeneration: generation,
    };
  }
}
