import type { HostnameExplainer } from '@causeway/controllers';
import { HostnameGenerator } from '@causeway/kinds';
import type { DraftedResource, Insights } from '@causeway/rest';
import type { Foundations } from './foundations';

/** The part of what REST shows that is about hostnames. */
type NamingInsights = Required<Pick<Insights, 'explainHostname' | 'hostnames' | 'consequences'>>;

/** What REST tells of hostnames: who claims which, and what a generator would do (design.md §4, seed 001). */
export function namingInsights({ cp }: Pick<Foundations, 'cp'>, explainer: HostnameExplainer): NamingInsights {
  return {
    explainHostname: (question) => explainer.explain(question),
    hostnames: (mesh, part) => explainer.list(mesh, part),
    consequences: (draft) => generatorDryRun(cp.role, explainer, draft),
  };
}

function generatorDryRun(
  role: 'global' | 'zone',
  explainer: HostnameExplainer,
  { id, spec, seenFrom }: DraftedResource,
): ReturnType<NonNullable<Insights['consequences']>> {
  if (id.kind !== HostnameGenerator.name || (role === 'global' && seenFrom === undefined)) return undefined;
  return explainer.dryRun({ id, spec }, seenFrom);
}
