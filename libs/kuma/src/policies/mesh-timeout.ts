import { goDurationMs } from '@causeway/resources';
import { kumaDuration } from './kuma-duration';
import type { RuleSpecs, TranslatedConf } from './mesh-retry';

/** How long a request may be without a byte where no policy says so, as proxies here have it. */
const USUAL_IDLE = '30m';

/**
 * `default` of a MeshTimeout of Kuma 2.14 that limits the requests of a rule as its policies do (docs/reference/kuma-interop.md, Policies
 * in zones of Kuma). `isRetrySent`: a MeshRetry limits each attempt.
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
