import type { DataplaneResource } from '@causeway/dataplanes';
import { Label, shortened } from '@causeway/resources';
import { isWorkloadLabelled, readWorkload } from './workload-id';

/** Dataplanes for which a credential is valid; an absent field restricts nothing (docs/reference/kuma-rest.md §5.5). */
export interface WorkloadBinding {
  readonly name?: string;
  readonly mesh?: string;
  /** Allowed values of each tag of the Dataplane's inbounds, which must have the tag. */
  readonly tags?: Readonly<Record<string, readonly string[]>>;
  readonly workload?: string;
  /** Absent in Kuma-style tokens. */
  readonly namespace?: string;
  /** MeshServices that a machine may serve; absent in Kuma-style tokens. */
  readonly services?: readonly string[];
  /** Maximum number of simultaneous machines of a group; absent with a name. */
  readonly machines?: number;
}

/** Returns why a credential is not valid for a stored Dataplane, or undefined if it is. */
export function findBindingProblem(binding: WorkloadBinding, dataplane: DataplaneResource): string | undefined {
  const { id, labels } = dataplane;
  const facts: readonly (readonly [claim: string, wanted: string | undefined, held: string | undefined])[] = [
    ['Name', binding.name, id.name],
    ['Mesh', binding.mesh, id.mesh],
    ['Namespace', binding.namespace, id.namespace],
    ['Workload', binding.workload, labels[Label.workload] ?? id.name],
  ];
  for (const [claim, wanted, held] of facts) {
    if (wanted === undefined || wanted === held) continue;
    const remedy = claim === 'Namespace' ? `: issue one with --namespace ${shortened(id.namespace, 200)}` : '';
    return `claim "${claim}" is ${quoted(wanted)}, the Dataplane has ${quoted(held ?? '')}${remedy}`;
  }
  return tagProblem(binding.tags ?? {}, dataplane);
}

/**
 * Returns why a credential does not prove the Dataplane's workload, or undefined if it does: the credential is valid
 * for the Dataplane and names the workload, or names a Dataplane whose workload is its own name. Any writer of
 * Dataplanes may set the label `kuma.io/workload`, so it needs the claim "Workload".
 */
export function findWorkloadProblem(binding: WorkloadBinding, dataplane: DataplaneResource): string | undefined {
  const problem = findBindingProblem(binding, dataplane);
  if (problem !== undefined || binding.workload !== undefined) return problem;
  const workload = quoted(readWorkload(dataplane));
  if (isWorkloadLabelled(dataplane))
    return `must have the claim "Workload": the Dataplane's workload ${workload} comes from its label ${Label.workload}`;
  return binding.name === undefined
    ? `must have the claim "Name" or "Workload"; the workload is ${workload}`
    : undefined;
}

/** Returns a Dataplane's MeshServices, sorted: the values of `kuma.io/service`, else its workload label. */
export function listServedServices({ labels, spec }: DataplaneResource): readonly string[] {
  const tagged = [...(spec.networking.inbound ?? []), ...(spec.networking.gateway ? [spec.networking.gateway] : [])];
  const named = new Set(tagged.flatMap(({ tags = {} }) => tags[Label.service] ?? []));
  if (named.size > 0) return [...named].sort();
  const workload = labels[Label.workload];
  return workload === undefined ? [] : [workload];
}

/** Returns why a Dataplane serves more than it was granted, or undefined if it does not. */
export function findServicesProblem(granted: readonly string[], dataplane: DataplaneResource): string | undefined {
  const allowed = new Set(granted);
  const foreign = listServedServices(dataplane).find((service) => !allowed.has(service));
  if (foreign === undefined) return undefined;
  const known = granted.length === 0 ? 'no service' : shortened(granted.map(quoted).join(', '), 200);
  return `is for ${known}; the Dataplane serves ${quoted(foreign)}: issue one with --service ${shortened(foreign, 200)}`;
}

function tagProblem(wanted: NonNullable<WorkloadBinding['tags']>, { spec }: DataplaneResource): string | undefined {
  const inbounds = spec.networking.inbound ?? [];
  const gateway = spec.networking.gateway?.tags;
  const tags = [...inbounds.map((inbound) => inbound.tags ?? {}), ...(gateway ? [gateway] : [])];
  for (const [tag, allowed] of Object.entries(wanted)) {
    const held = tags.flatMap((one) => (Object.hasOwn(one, tag) ? [one[tag] ?? ''] : []));
    if (held.length === 0) return `claim "Tags" has ${quoted(tag)}, which the Dataplane has not`;
    const known = new Set(allowed);
    const foreign = held.find((value) => !known.has(value));
    if (foreign !== undefined)
      return `claim "Tags" allows ${quoted(tag)}: ${shortened(allowed.join(', '), 200)}; the Dataplane has ${quoted(foreign)}`;
  }
  return undefined;
}

function quoted(text: string): string {
  return JSON.stringify(shortened(text, 200));
}
