import { isJsonArray, isJsonObject, jsonEqual, type JsonObject, type JsonValue } from '@causeway/resources';
import { TokenBuckets } from '@causeway/runtime';

/** The rate of writes that change only messages: a burst, and then one in ten seconds. */
const RATE = { burst: 10, perSecond: 0.1 };

/**
 * Limits the rate of status writes that change only messages. The message of a policy on a whole mesh counts its scopes, so each service that comes
 * or goes changes it; without a limit every such service would cost a write of every such policy, and each write goes to all zones. A condition's
 * status and reason are written at once, its message within ten seconds.
 */
export class StatusMessageLimit {
  /** ms; never decreases. */
  private now = 0;
  private readonly buckets = new TokenBuckets(RATE, { elapsed: () => this.now });

  /** Returns when the new status of a resource may be written, ms; undefined if it may be written at `now`, which is then counted. */
  dueAt(key: string, before: JsonObject | undefined, after: JsonObject | undefined, now: number): number | undefined {
    if (!jsonEqual(withoutMessages(before), withoutMessages(after))) return undefined;
    this.now = Math.max(this.now, now);
    const wait = this.buckets.take(key);
    return wait === undefined ? undefined : now + wait;
  }
}

function withoutMessages(value: JsonValue | undefined): JsonValue | undefined {
  if (isJsonArray(value)) return value.map((each) => withoutMessages(each) ?? null);
  if (!isJsonObject(value)) return value;
  const rest = Object.entries(value).filter(([name]) => name !== 'message');
  return Object.fromEntries(rest.map(([name, each]) => [name, withoutMessages(each) ?? null]));
}
