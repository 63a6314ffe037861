import { identityKey } from '@causeway/resources';
import type { KnownProxy } from '../proxies/known-proxies';
import type { ProxyDirectory } from '../proxies/proxy-directory';
import type { ApplyProgress, ApplyRequirement, WaitingProxy } from './apply-progress';
import { formatUnsupported } from './progress-text';
import { readDataplaneMode } from './dataplane-modes';
import {
  MAX_NAMES,
  sumUnsupported,
  type UnsupportedCount,
  type UnsupportedProxies,
  type UnsupportedProxy,
} from './unsupported-proxies';

/** A proxy with the revision of the log up to which it has applied all changes; -1 if unknown. */
interface AppliedProxy extends WaitingProxy {
  readonly revision: number;
}

/** The connected proxies of a selection, split by whether they support the required features. */
interface SplitProxies {
  /** Sorted, the one that lags furthest first. */
  readonly supporting: readonly AppliedProxy[];
  readonly unsupported: UnsupportedProxies;
}

/**
 * Counts the proxies of a zone that have applied a resource, from the reports of its replicas. One view for each selection and set of features is
 * built after each read of the directory.
 */
export class ProxyProgress {
  private readonly views = new Map<string, SplitProxies>();
  private byMesh = new Map<string, KnownProxy[]>();
  private egresses: KnownProxy[] = [];
  private readAt: number | undefined;

  constructor(private readonly proxies: Pick<ProxyDirectory, 'isLoaded' | 'all' | 'storeNow'>) {}

  /** False until the proxies were read once. */
  get isLoaded(): boolean {
    return this.proxies.isLoaded;
  }

  /** Returns the proxies that have applied the log up to `revision`. After the first call, logarithmic in the proxies of the view. */
  of(requirement: ApplyRequirement, revision: number): ApplyProgress {
    const { supporting, unsupported } = this.view(requirement);
    const lacking = countBelow(supporting, revision);
    const waiting = supporting.slice(0, Math.min(lacking, MAX_NAMES)).map(({ proxy }) => ({ proxy }));
    return { proxies: { acked: supporting.length - lacking, total: supporting.length, waiting }, unsupported };
  }

  private view(requirement: ApplyRequirement): SplitProxies {
    this.refresh();
    const key = viewKey(requirement);
    const known = this.views.get(key);
    if (known) return known;
    const { mesh, namespace, some, includesEgresses = false } = requirement.selection;
    const dataplanes = (this.byMesh.get(mesh) ?? []).filter(({ facts: { owner } }) => {
      if (!owner || (namespace !== undefined && owner.namespace !== namespace)) return false;
      return some === undefined || some.has(identityKey(owner));
    });
    const selected = includesEgresses ? [...dataplanes, ...this.egresses] : dataplanes;
    const view = countProxies(selected, requirement, includesEgresses && this.egresses.length === 0);
    this.views.set(key, view);
    return view;
  }

  private refresh(): void {
    const { storeNow } = this.proxies;
    if (this.readAt === storeNow) return;
    this.readAt = storeNow;
    this.views.clear();
    this.byMesh = new Map();
    this.egresses = [];
    for (const known of this.proxies.all()) {
      const { connected, facts } = known;
      if (connected && facts.kind === 'egress') this.egresses.push(known);
      if (!connected || facts.kind !== 'dataplane' || !facts.owner) continue;
      const others = this.byMesh.get(facts.owner.mesh);
      if (others) others.push(known);
      else this.byMesh.set(facts.owner.mesh, [known]);
    }
  }
}

/** Returns the key of a view: equal for requirements that select the same proxies and need the same features. */
export function viewKey({ selection, features }: ApplyRequirement): string {
  const { mesh, namespace = '', some, includesEgresses = false } = selection;
  return `${mesh} ${namespace} ${some?.key ?? ''} ${includesEgresses} ${features.key}`;
}

function countProxies(
  proxies: readonly KnownProxy[],
  { features }: Pick<ApplyRequirement, 'features'>,
  lacksEgress: boolean,
): SplitProxies {
  const supporting: AppliedProxy[] = [];
  const unsupported: UnsupportedProxy[] = lacksEgress ? [{ type: 'noEgress' }] : [];
  for (const { proxy, facts, revision } of proxies) {
    const mode = readDataplaneMode(facts);
    const reason = facts.bytesOnly;
    if (features.isSupported(mode, reason !== undefined))
      supporting.push({ proxy, revision: facts.isSettled ? (facts.applied ?? revision) : -1 });
    else
      unsupported.push({ type: 'proxy', proxy, mode, ...(reason !== undefined && { tcpPassthroughReason: reason }) });
  }
  supporting.sort((a, b) => a.revision - b.revision || (a.proxy < b.proxy ? -1 : 1));
  return { supporting, unsupported: summarise(unsupported) };
}

function summarise(unsupported: readonly UnsupportedProxy[]): UnsupportedProxies {
  const named = unsupported.map((one) => ({ one, name: formatUnsupported(one) }));
  named.sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    total: unsupported.length,
    counts: sumUnsupported(unsupported.map(toUnsupportedCount)),
    first: named.slice(0, MAX_NAMES).map(({ one }) => one),
  };
}

function toUnsupportedCount(unsupported: UnsupportedProxy): UnsupportedCount {
  if (unsupported.type !== 'proxy')
    return { mode: unsupported.type === 'noEgress' ? 'noEgress' : 'unknown', isTcpPassthrough: false, count: 1 };
  const { mode, tcpPassthroughReason } = unsupported;
  return { mode, isTcpPassthrough: tcpPassthroughReason !== undefined, count: 1 };
}

/** Returns how many of the sorted proxies are below the revision. */
function countBelow(sorted: readonly AppliedProxy[], revision: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle]?.revision ?? Infinity) < revision) low = middle + 1;
    else high = middle;
  }
  return low;
}
