import type { WorkloadBinding } from '@causeway/identity';
import type { Identity } from '@causeway/resources';
import type { EnvoyView } from '@causeway/xds-translation';
import type { CertificateStatus, ProxyCertificate } from './proxy-certificates';

/** Default namespace of a Dataplane. */
export const DEFAULT_NAMESPACE = 'default';

/** Facts that decide a view. Proxies with equal facts, such as the streams of one proxy, share it. */
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

/** View that a stream uses; call `release` once, when the stream ends. */
export interface HeldView {
  readonly view: EnvoyView;
  readonly release: () => void;
}

/**
 * Views of all connected proxies. A view object is kept while a stream uses it, because the server compares views by
 * identity; its certificate is then no longer renewed.
 */
export class ProxyViews {
  private readonly kept = new Map<string, KeptView>();
  private readonly byProxy = new Map<string, Set<KeptView>>();

  /** `left`: called when the last stream of a proxy has ended. */
  constructor(private readonly left: (proxy: string) => void = () => undefined) {}

  /** Returns the view of these facts; calls `make` if no stream uses it yet. */
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

  /** The views of all connected proxies. */
  *all(): Iterable<EnvoyView> {
    for (const { view } of this.kept.values()) yield view;
  }

  /** Returns whether a proxy has a stream. */
  has(proxy: string): boolean {
    return this.byProxy.has(proxy);
  }

  /** Returns the certificate of a proxy's newest view. */
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

/** Returns the id of a Dataplane's proxy: `<mesh>/<name>`, with `.<namespace>` unless that is the default one. */
export function dataplaneProxyId({ mesh, name, namespace }: Pick<Identity, 'mesh' | 'name' | 'namespace'>): string {
  return `${mesh}/${name}${namespace === DEFAULT_NAMESPACE ? '' : `.${namespace}`}`;
}

/** Returns the id of a zone proxy: `/ingress/<name>`, `/egress/<name>`. */
export function zoneProxyId(type: 'ingress' | 'egress', name: string): string {
  return `/${type}/${name}`;
}

/** Returns a binding without undefined parts, in a fixed order. */
export function bindingFacts({ name, mesh, tags, workload }: WorkloadBinding): unknown {
  return [name ?? null, mesh ?? null, workload ?? null, tags ?? null];
}
