import { compareText, isLabelKey, isLabelValue, type Labels } from '@causeway/resources';

/** What of a Dataplane counts for the labels of its service. */
export interface LabelSource {
  readonly labels: Labels;
  readonly creationOrder: number;
}

interface Vote {
  readonly value: string;
  readonly count: number;
  readonly newest: number;
}

const RESERVED = ['kuma.io/', 'k8s.kuma.io/'];

/**
 * The labels that a generated service takes over from its Dataplanes (design.md §4 services): of each key the value
 * that most carry, then the one the newest Dataplane carries, then the smallest. Keys of the control plane
 * (`kuma.io/…`) and what is no label are left out.
 */
export function carriedLabels(sources: readonly LabelSource[]): Labels {
  const votes = new Map<string, Map<string, Vote>>();
  for (const { labels, creationOrder } of sources) {
    for (const [key, value] of Object.entries(labels)) {
      if (!isCarried(key, value)) continue;
      const values = votes.get(key) ?? new Map<string, Vote>();
      const { count = 0, newest = 0 } = values.get(value) ?? {};
      votes.set(key, values.set(value, { value, count: count + 1, newest: Math.max(newest, creationOrder) }));
    }
  }
  return Object.fromEntries([...votes].map(([key, values]) => [key, winnerOf([...values.values()])]));
}

function isCarried(key: string, value: string): boolean {
  return !RESERVED.some((prefix) => key.startsWith(prefix)) && isLabelKey(key) && isLabelValue(value);
}

function winnerOf(votes: readonly Vote[]): string {
  const [best] = [...votes].sort((a, b) => b.count - a.count || b.newest - a.newest || compareText(a.value, b.value));
  return best?.value ?? '';
}
