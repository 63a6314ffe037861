import { isJsonArray, isJsonObject, jsonEqual, type JsonObject, type JsonValue } from '@causeway/resources';

/** So many writes of words alone are made at once, and then one after each pause (ms). */
const AT_ONCE = 10;
const PAUSE = 10_000;

/**
 * Bounds how often a status is written of which the messages alone change. The message of a policy on a whole mesh counts its scopes, so
 * each service that comes or goes changes it; without a bound every such service would cost a write of every such policy, and each
 * write goes to all zones. What a condition says is written at once, its words within ten seconds. Pure but for what it remembers.
 */
export class RewordingLimit {
  /** By the key of a resource: how many more may be written now, as of when (ms). */
  private readonly left = new Map<string, { readonly writes: number; readonly at: number }>();

  /** When this status may be written, ms; undefined where it may be now, which is then counted. */
  dueAt(key: string, before: JsonObject | undefined, after: JsonObject | undefined, now: number): number | undefined {
    if (!jsonEqual(wordless(before), wordless(after))) return undefined;
    const { writes, at } = this.left.get(key) ?? { writes: AT_ONCE, at: now };
    const earned = Math.max(0, Math.floor((now - at) / PAUSE));
    const allowed = Math.min(AT_ONCE, writes + earned);
    if (allowed === 0) return at + PAUSE;
    this.left.set(key, { writes: allowed - 1, at: allowed === AT_ONCE ? now : at + earned * PAUSE });
    return undefined;
  }

  forget(key: string): void {
    this.left.delete(key);
  }
}

function wordless(value: JsonValue | undefined): JsonValue | undefined {
  if (isJsonArray(value)) return value.map((each) => wordless(each) ?? null);
  if (!isJsonObject(value)) return value;
  const rest = Object.entries(value).filter(([name]) => name !== 'message');
  return Object.fromEntries(rest.map(([name, each]) => [name, wordless(each) ?? null]));
}
