import type { JsonObject, Resource } from '@causeway/resources';
import type { Insights } from '../rest-dependencies';

/** Resources whose insights are read at the same time: each may take reads of the store. */
const READ_AT_ONCE = 10;

/** What stands beside each of `resources`, a few at a time; rejects with the signal's reason when that aborts before. */
export async function readInsights(
  { insightOf }: Insights,
  resources: readonly Resource[],
  signal: AbortSignal,
): Promise<readonly (JsonObject | undefined)[]> {
  const found: (JsonObject | undefined)[] = [];
  if (!insightOf) return found;
  for (let from = 0; from < resources.length; from += READ_AT_ONCE) {
    signal.throwIfAborted();
    const few = resources.slice(from, from + READ_AT_ONCE);
    found.push(...(await Promise.all(few.map(async (resource) => insightOf(resource)))));
  }
  return found;
}
