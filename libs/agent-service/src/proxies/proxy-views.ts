import type { WorkloadBinding } from '@causeway/identity';
import type { Identity } from '@causeway/resources';
import type { EnvoyView } from '@causeway/xds-translation';
import type { CertificateStatus, ProxyCertificate } from './proxy-certificates';

/** The namespace of a Dataplane whose name has none. */
export const DEFAULT_NAMESPACE = 'default';

/** The facts that decide a view; proxies that agree in them, streams of one proxy above all, share the view. */
export interface ViewFacts {
  readonly proxy: string;
  readonly facts: unknown;
}

interface KeptView {
  readonly view: EnvoyView;
  readonly proxy: string;
  readonly certificate?: ProxyCertificate;
  holds: number;
}

/** A view that a stream uses; `release` is called once, when the stream uses it no longer. */
export interface HeldView {
  readonly view: EnvoyView;
  readonly release: () => void;
}

/**
 * The views of all connected proxies: a view object is kept as long as a stream uses it, for the server compares views by
 * identity. With its last stream a view goes, and its certificate is renewed no longer.
 */
export class ProxyViews {
  private readonly kept = new Map<string, KeptView>();
  private readonly byProxy = new Map<string, Set<KeptView>>();

  /** `left` is called when the last stream of a proxy has ended. */
  constructor(private readonly left: (proxy: string) => void = () => undefined) {}

  /** The view of these facts; `make` is called where no stream uses it yet. */
  hold({ proxy, facts }: ViewFacts, make: () => Pick<KeptView, 'view' | 'certificate'>): HeldView {
    const key = JSON.stringify([proxy, facts]);
    const kept = this.kept.get(key) ?? this.keep(key, { ...make(), proxy, holds: 0 });
    kept.holds += 1;
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      kept.holds -= 1;
      if (kept.holds === 0) this.drop(key, kept);
    };
    return { view: kept.view, release };
  }

  /** Whether a stream of this proxy is there. */
  has(proxy: string): boolean {
    return this.byProxy.has(proxy);
  }

  /** Of the newest view of a proxy. */
  findCertificate(proxy: string): CertificateStatus | undefined {
    return [...(this.byProxy.get(proxy) ?? [])].at(-1)?.certificate?.status();
  }

  private keep(key: string, kept: KeptView): KeptView {
    this.kept.set(key, kept);
    const ofProxy = this.byProxy.get(kept.proxy) ?? new Set();
    this.byProxy.set(kept.proxy, ofProxy.add(kept));
    return kept;
  }

  private drop(key: string, kept: KeptView): void {
    this.kept.delete(key);
    const ofProxy = this.byProxy.get(kept.proxy);
    kept.certificate?.close();
    if (!ofProxy?.delete(kept) || ofProxy.size > 0) return;
    this.byProxy.delete(kept.proxy);
    this.left(kept.proxy);
  }
}

/** The id of a Dataplane's proxy: `<mesh>/<name>`, with `.<namespace>` unless that is the default one. */
export function dataplaneProxyId({ mesh, name, namespace }: Pick<Identity, 'mesh' | 'name' | 'namespace'>): string {
  return `${mesh}/${name}${namespace === DEFAULT_NAMESPACE ? '' : `.${namespace}`}`;
}

/** The id of a zone proxy: `/ingress/<name>`, `/egress/<name>`. */
export function zoneProxyId(type: 'ingress' | 'egress', name: string): string {
  return `/${type}/${name}`;
}

/** A binding without its undefined parts, in one order. */
export function bindingFacts({ name, mesh, tags, workload }: WorkloadBinding): unknown {
  return [name ?? null, mesh ?? null, workload ?? null, tags ?? null];
}
