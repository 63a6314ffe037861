import type { HostnameExplainer, DraftedResource, Insights } from '@causeway/queries';
import { HostnameGenerator } from '@causeway/kinds';
import type { ControlPlaneCore } from '../core.module';

/** The hostname queries of REST. */
type NamingInsights = Required<Pick<Insights, 'explainHostname' | 'hostnames' | 'consequences'>>;

/** Answers queries about hostnames: their claims, and the effects of a generator (docs/design.md §4). */
export function namingInsights({ cp }: Pick<ControlPlaneCore, 'cp'>, explainer: HostnameExplainer): NamingInsights {
  return {
    explainHostname: (question, signal) => explainer.explain(question, signal),
    hostnames: (mesh, part, signal) => explainer.list(mesh, part, signal),
    consequences: (draft, signal) => generatorDryRun({ role: cp.role, explainer }, draft, signal),
  };
}

function generatorDryRun(
  { role, explainer }: { readonly role: 'global' | 'zone'; readonly explainer: HostnameExplainer },
  { id, spec, seenFrom }: DraftedResource,
  signal: AbortSignal,
): ReturnType<NonNullable<Insights['consequences']>> {
  if (id.kind !== HostnameGenerator.name || (role === 'global' && seenFrom === undefined)) return undefined;
  return explainer.dryRun({ id, spec }, seenFrom, signal);
}
