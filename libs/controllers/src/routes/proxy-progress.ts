import type { RouteKind } from '@causeway/routing';
import type { KnownProxy } from '../proxies/known-proxies';
import type { ProxyDirectory } from '../proxies/proxy-directory';
import type { Progress, RouteProgress } from './programmed';

/** Callers to whom a route applies: all of a mesh, or those of one namespace. */
export interface Callers {
  readonly mesh: string;
  readonly namespace?: string | undefined;
}

/** Which kinds of routes each kind of proxy obeys, by its user agent: an agent names its plane behind its version. */
const OBEYED: readonly { readonly plane: string; readonly agent: RegExp; readonly kinds: readonly RouteKind[] }[] = [
  { plane: 'gRPC', agent: /^grpc/i, kinds: ['HTTPRoute', 'GRPCRoute'] },
  { plane: 'builtin', agent: /^causeway-agent \S*\+builtin$/, kinds: ['TCPRoute'] },
  { plane: 'direct', agent: /^causeway-agent \S*\+direct$/, kinds: [] },
  { plane: 'Envoy', agent: /(?:)/, kinds: ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute'] },
];

/** A proxy and the revision of the log up to which it has applied everything; -1 where that is not known. */
interface Applied {
  readonly name: string;
  readonly revision: number;
}

/** The connected proxies of some callers, split by whether they obey a kind of routes. */
interface View {
  /** The one that lags furthest first. */
  readonly able: readonly Applied[];
  readonly unable: Progress;
}

/** Who in a zone has applied routes, by what replicas report of its proxies. Views are made once for each read of the directory. */
export class ProxyProgress {
  private readonly views = new Map<string, View>();
  private byMesh = new Map<string, KnownProxy[]>();
  private readAt: number | undefined;

  constructor(private readonly proxies: Pick<ProxyDirectory, 'isLoaded' | 'all' | 'storeNow'>) {}

  /** False before anything is known of any proxy. */
  get isLoaded(): boolean {
    return this.proxies.isLoaded;
  }

  /** Who has applied what the log held at `revision`. After the first question, logarithmic in the proxies of the callers. */
  of(callers: Callers, kind: RouteKind, revision: number): RouteProgress {
    const { able, unable } = this.view(callers, kind);
    const lacking = firstAtLeast(able, revision);
    const waitingFor = able.slice(0, Math.min(lacking, MOST_WAITING)).map(({ name }) => name);
    return { proxies: { acked: able.length - lacking, total: able.length, waitingFor }, unable };
  }

  private view(callers: Callers, kind: RouteKind): View {
    this.refresh();
    const key = `${kind} ${callers.mesh} ${callers.namespace ?? ''}`;
    const known = this.views.get(key);
    if (known) return known;
    const inView = (this.byMesh.get(callers.mesh) ?? []).filter(
      ({ facts: { owner } }) => callers.namespace === undefined || owner?.namespace === callers.namespace,
    );
    const view = viewOf(inView, kind);
    this.views.set(key, view);
    return view;
  }

  private refresh(): void {
    const { storeNow } = this.proxies;
    if (this.readAt === storeNow) return;
    this.readAt = storeNow;
    this.views.clear();
    this.byMesh = new Map();
    for (const known of this.proxies.all()) {
      const { connected, facts } = known;
      if (!connected || facts.kind !== 'dataplane' || !facts.owner) continue;
      const others = this.byMesh.get(facts.owner.mesh);
      if (others) others.push(known);
      else this.byMesh.set(facts.owner.mesh, [known]);
    }
  }
}

const MOST_WAITING = 3;

function viewOf(proxies: readonly KnownProxy[], kind: RouteKind): View {
  const able: Applied[] = [];
  const unable: string[] = [];
  for (const { proxy, facts, revision } of proxies) {
    const { userAgent, bytesOnly } = facts;
    const { plane, kinds } = planeOf(userAgent);
    if (bytesOnly !== undefined) unable.push(`${proxy} (${plane}, ${bytesOnly})`);
    else if (!kinds.includes(kind)) unable.push(`${proxy} (${plane})`);
    else able.push({ name: proxy, revision: facts.isSettled ? (facts.applied ?? revision) : -1 });
  }
  const waitingFor = unable.sort().slice(0, MOST_WAITING);
  able.sort((a, b) => a.revision - b.revision || (a.name < b.name ? -1 : 1));
  return { able, unable: { acked: 0, total: unable.length, waitingFor } };
}

function planeOf(userAgent: string): (typeof OBEYED)[number] {
  return OBEYED.find(({ agent }) => agent.test(userAgent)) ?? { plane: 'unknown', agent: /(?:)/, kinds: [] };
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
