import type { KnownProxy } from '../proxies/known-proxies';
import type { ProxyDirectory } from '../proxies/proxy-directory';
import { identityKey } from '@causeway/resources';
import { planeOf } from './planes';
import { unableName, type Concerned, type Needs, type Progress, type ResourceProgress } from './progress';

/** A proxy and the revision of the log up to which it has applied everything; -1 where that is not known. */
interface Applied {
  readonly name: string;
  readonly revision: number;
}

/** The connected proxies that something concerns, split by whether they can obey it. */
interface View {
  /** The one that lags furthest first. */
  readonly able: readonly Applied[];
  readonly unable: Progress;
}

const MOST_WAITING = 3;
/** Who is named where nothing stands between callers and what is outside the mesh. */
const NO_EGRESS = 'MeshExternalServices (no zone egress is connected)';

/**
 * Who in a zone has applied something, by what replicas report of its proxies. A view, of those that something concerns and what it
 * needs, is made once for each read of the directory.
 */
export class ProxyProgress {
  private readonly views = new Map<string, View>();
  private byMesh = new Map<string, KnownProxy[]>();
  private egresses: KnownProxy[] = [];
  private readAt: number | undefined;

  constructor(private readonly proxies: Pick<ProxyDirectory, 'isLoaded' | 'all' | 'storeNow'>) {}

  /** False before anything is known of any proxy. */
  get isLoaded(): boolean {
    return this.proxies.isLoaded;
  }

  /** Who has applied what the log held at `revision`. After the first question, logarithmic in the proxies of the view. */
  of(concerned: Concerned, needs: Needs, revision: number): ResourceProgress {
    const { able, unable } = this.view(concerned, needs);
    const lacking = firstAtLeast(able, revision);
    const waitingFor = able.slice(0, Math.min(lacking, MOST_WAITING)).map(({ name }) => name);
    return { proxies: { acked: able.length - lacking, total: able.length, waitingFor }, unable };
  }

  private view(concerned: Concerned, needs: Needs): View {
    this.refresh();
    const key = viewKey(concerned, needs);
    const known = this.views.get(key);
    if (known) return known;
    const { mesh, namespace, some, leaves = false } = concerned;
    const inView = (this.byMesh.get(mesh) ?? []).filter(({ facts: { owner } }) => {
      if (!owner || (namespace !== undefined && owner.namespace !== namespace)) return false;
      return some === undefined || some.has(identityKey(owner));
    });
    const isUnguarded = leaves && this.egresses.length === 0;
    const view = viewOf([...inView, ...(leaves ? this.egresses : [])], needs, isUnguarded ? [NO_EGRESS] : []);
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

/** What names a view. */
export function viewKey({ mesh, namespace = '', some, leaves = false }: Concerned, { key }: Needs): string {
  return `${mesh} ${namespace} ${some?.key ?? ''} ${leaves} ${key}`;
}

/** `lacking`: the names of what cannot obey although it is no proxy. */
function viewOf(proxies: readonly KnownProxy[], { isAble }: Needs, lacking: readonly string[]): View {
  const able: Applied[] = [];
  const unable: string[] = [...lacking];
  for (const { proxy, facts, revision } of proxies) {
    if (!isAble(planeOf(facts), facts)) unable.push(unableName(proxy, facts));
    else able.push({ name: proxy, revision: facts.isSettled ? (facts.applied ?? revision) : -1 });
  }
  const waitingFor = unable.sort().slice(0, MOST_WAITING);
  able.sort((a, b) => a.revision - b.revision || (a.name < b.name ? -1 : 1));
  return { able, unable: { acked: 0, total: unable.length, waitingFor } };
}

/** How many of the sorted proxies lack the revision. */
function firstAtLeast(sorted: readonly Applied[], revision: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle]?.revision ?? Infinity) < revision) low = middle + 1;
    else high = middle;
  }
  return low;
}
