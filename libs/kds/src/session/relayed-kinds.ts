import { relayedKinds } from '@causeway/kuma';
import type { Registry } from '@causeway/resources';
import { withInsightKinds, withRevocations } from './proxy-insights';

/** The kinds of a global's sync: those of `registry`, insights of proxies, and those that the global only relays. */
export function withRelayedKinds(registry: Registry): Registry {
  return withInsightKinds(withRevocations(registry.with(relayedKinds)));
}
