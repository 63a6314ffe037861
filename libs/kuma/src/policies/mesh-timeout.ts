import { goDurationMs } from '@causeway/resources';
import { kumaDuration } from './kuma-duration';
import type { RuleSpecs, TranslatedConf } from './mesh-retry';

/** The idle timeout of requests without a policy, equal to our proxies'. */
const USUAL_IDLE = '30m';

/**
 * Returns `default` of a MeshTimeout of Kuma 2.14 with the timeouts of a rule's policies (docs/reference/kuma-interop.md, Policies in zones of Kuma).
 * `isRetrySent`: a MeshRetry limits each attempt.
 */
export function timeoutConf({ timeout, retry }: RuleSpecs, isRetrySent: boolean): TranslatedConf {
  if (!timeout || Object.keys(timeout).length === 0) return { ok: true };
  const ms = (text: string): number => goDurationMs(text) ?? 0;
  const request = ms(timeout.request ?? '0s');
  const attempt = retry?.perTryTimeout === undefined ? ms(timeout.backendRequest ?? '0s') : 0;
  // An attempt cannot take longer than the request.
  const isLimited = attempt > 0 && (request === 0 || attempt < request);
  if (isLimited && !isRetrySent) {
    return {
      ok: false,
      reason: 'backendRequest limits one attempt, which Kuma does with a MeshRetry only, and none is sent here',
    };
  }
  const http = {
    requestTimeout: kumaDuration(request),
    streamIdleTimeout: kumaDuration(ms(timeout.idle ?? USUAL_IDLE)),
  };
  return { ok: true, conf: { http } };
}
