import type { Static } from 'typebox';
import { rulePolicy } from './rule-policy';
import { Duration, Optionals } from './schema-parts';
import { unsupportedForRequests } from './unsupported-fields';

const Spec = Optionals({
  /** The time from the start of the request to the end of the response, including retries; 0s is unlimited. */
  request: Duration,
  /** Timeout of one attempt; 0s is unlimited. */
  backendRequest: Duration,
  /** Time without a byte in either direction; 0s is unlimited. 30m if absent. */
  idle: Duration,
});
export type TimeoutSpec = Static<typeof Spec>;

/** Limits the duration of requests; a rule's own `timeouts` have precedence, field by field. */
export const TimeoutPolicy = rulePolicy({
  kind: 'TimeoutPolicy',
  plural: 'timeoutpolicies',
  shortName: 'top',
  description: 'Ends requests that take too long, with status 504 or DEADLINE_EXCEEDED.',
  does: 'limits how long requests take',
  schema: Spec,
  unsupported: unsupportedForRequests<TimeoutSpec>({
    grpc: [['/idle', 'gRPC clients know no time without traffic of a single call', ({ idle }) => idle !== undefined]],
  }),
});
