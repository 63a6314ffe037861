import { backoffTimes, type RetrySpec, type TimeoutSpec } from '@causeway/policies';
import { goDurationMs, type JsonObject } from '@causeway/resources';
import { kumaDuration } from './kuma-duration';

/** The policies of one rule or port in Kuma's form: without `conf` if there are none; or the reason why Kuma cannot express them. */
export type TranslatedConf =
  { readonly ok: true; readonly conf?: JsonObject } | { readonly ok: false; readonly reason: string };

/** The effective policies of one rule. */
export interface RuleSpecs {
  readonly timeout?: TimeoutSpec | undefined;
  readonly retry?: RetrySpec | undefined;
}

type RetryCondition = NonNullable<RetrySpec['on']>[number];

const NAMES: Partial<Readonly<Record<RetryCondition, string>>> = {
  '5xx': '5xx',
  'gateway-error': 'GatewayError',
  'connect-failure': 'ConnectFailure',
  reset: 'Reset',
  'retriable-4xx': 'Retriable4xx',
  'refused-stream': 'RefusedStream',
};
/** Conditions that also retry requests that a server has not begun when its connection ends, as our proxies always do. */
const OF_LOST: readonly RetryCondition[] = ['5xx', 'gateway-error', 'reset'];
/** The conditions, of those that Kuma knows, on which our proxies retry every request. */
const ALWAYS: readonly RetryCondition[] = ['connect-failure', 'refused-stream'];
const USUAL_ATTEMPTS = 4;
/** The number of host selections before the same instance is tried again, equal to ours. */
const SELECTIONS = 10;
/** Reports whether a status from 400 to 599 has no name in Go's net/http: Kuma refuses such statuses. */
const nameless = (status: number): boolean =>
  !(
    (status <= 418 && status >= 400) ||
    (status >= 421 && status <= 426) ||
    [428, 429, 431, 451].includes(status) ||
    (status >= 500 && status <= 508) ||
    [510, 511].includes(status)
  );

/**
 * Returns `default` of a MeshRetry of Kuma 2.14 with the retries of a rule's policies at a port of this protocol (docs/reference/kuma-interop.md,
 * Policies in zones of Kuma).
 */
export function retryConf({ timeout, retry }: RuleSpecs, protocol: unknown): TranslatedConf {
  if (!retry || Object.keys(retry).length === 0) return { ok: true };
  if (protocol !== 'http')
    return refused(`Kuma repeats nothing, or on the same instance, where appProtocol is ${String(protocol)}`);
  const { attempts = USUAL_ATTEMPTS, perTryTimeout, backoff, on = [], statuses = [] } = retry;
  const strange = on.find((each) => NAMES[each] === undefined);
  if (strange !== undefined) return refused(`Kuma does not repeat HTTP requests on ${strange}`);
  if (!on.some((each) => OF_LOST.includes(each))) {
    return refused(
      'a request that no server has begun is repeated; Kuma does that with 5xx, gateway-error or reset only',
    );
  }
  const unknown = statuses.find(nameless);
  if (unknown !== undefined) return refused(`Kuma does not know status ${unknown}`);
  const { base, max } = backoffTimes(backoff);
  const attempt = goDurationMs(perTryTimeout ?? timeout?.backendRequest ?? '0s') ?? 0;
  const conditions = [...new Set([...ALWAYS, ...on])].map((each) => NAMES[each] ?? each);
  const http = {
    numRetries: attempts,
    perTryTimeout: kumaDuration(attempt),
    backOff: { baseInterval: kumaDuration(base), maxInterval: kumaDuration(max) },
    retryOn: [...conditions, ...new Set(statuses.map(String))],
    hostSelection: [{ predicate: 'OmitPreviousHosts' }],
    hostSelectionMaxAttempts: SELECTIONS,
  };
  return { ok: true, conf: { http } };
}

const refused = (reason: string): TranslatedConf => ({ ok: false, reason });
