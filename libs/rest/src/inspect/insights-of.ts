import type { JsonObject, Resource } from '@causeway/resources';
import type { Insights } from '../dependencies';

/** Resources whose insights are read at the same time: each may take reads of the store. */
const TOGETHER = 10;

/** What stands beside each of `resources`, a few at a time; rejects with the signal's reason when that aborts before. */
export async function insightsOf(
  { insightOf }: Insights,
  resources: readonly Resource[],
  signal: AbortSignal,
): Promise<readonly (JsonObject | undefined)[]> {
  const found: (JsonObject | undefined)[] = [];
  if (!insightOf) return found;
  for (let from = 0; from < resources.length; from += TOGETHER) {
    signal.throwIfAborted();
    const few = resources.slice(from, from + TOGETHER);
    found.push(...(await Promise.all(few.map(async (resource) => insightOf(resource)))));
  }
  return found;
}
