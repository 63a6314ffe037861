import { identityKey, type Condition, type Resource } from '@causeway/resources';
import type { ProgressSource } from '../progress/apply-progress';
import { formatNames } from '../progress/progress-text';
import { UNSUPPORTED_BY_KUMA } from '../routes/programmed';
import type { KumaPolicies } from './kuma-policies';

/**
 * Returns the condition of a policy that is not translated completely for zones of Kuma; `absent` if it is, or if there are no such zones. Undefined
 * if unknown: the written condition stays.
 */
export function notTranslatedCondition(
  { id, generation }: Pick<Resource, 'id' | 'generation'>,
  progress: Pick<ProgressSource, 'kumaZones'> | undefined,
  kuma: KumaPolicies | undefined,
): Condition | 'absent' | undefined {
  const zones = progress?.kumaZones?.();
  if (!kuma || !zones) return undefined;
  if (zones.length === 0) return 'absent';
  const why = kuma.findReason(identityKey(id));
  if (why === undefined) return undefined;
  if (why === '') return 'absent';
  const who = formatNames(zones, zones.length);
  const message = `zones of Kuma are sent only a part of it, and their proxies do not apply the rest: ${who}; ${why}`;
  return {
    type: UNSUPPORTED_BY_KUMA,
    status: 'True',
    reason: 'NotExpressible',
    message,
    observedGeneration: generation,
  };
}
