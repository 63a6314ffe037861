import { identityKey, type Resource, type ResourceKey } from '@causeway/resources';
import type { ApplyProgress, ApplyRequirement, UnsupportedChanges } from './apply-progress';
import { viewKey, type ProxyProgress } from './proxy-progress';

interface WatchedView {
  readonly requirement: ApplyRequirement;
  readonly keys: Set<ResourceKey>;
  fingerprint: string;
}

/** Detects resources whose set of proxies without support changes. It compares views, which many resources share. */
export class UnsupportedWatch implements UnsupportedChanges {
  private readonly views = new Map<string, WatchedView>();
  private readonly viewOf = new Map<ResourceKey, string>();

  constructor(private readonly progress: Pick<ProxyProgress, 'isLoaded' | 'of'>) {}

  /** Watches a resource until `forget`. */
  watch({ id }: Pick<Resource, 'id'>, { selection, features }: ApplyRequirement): void {
    const requirement = { selection, features };
    const key = identityKey(id);
    const view = viewKey(requirement);
    if (this.viewOf.get(key) === view) return;
    this.forget(key);
    this.viewOf.set(key, view);
    const known = this.views.get(view);
    if (known) known.keys.add(key);
    else this.views.set(view, { requirement, keys: new Set([key]), fingerprint: this.fingerprint(requirement) });
  }

  forget(key: ResourceKey): void {
    const view = this.viewOf.get(key) ?? '';
    const watched = this.views.get(view);
    this.viewOf.delete(key);
    watched?.keys.delete(key);
    if (watched?.keys.size === 0) this.views.delete(view);
  }

  /** Returns the changed keys. Linear in the proxies of all views. */
  takeChanged(): readonly ResourceKey[] {
    const changed: ResourceKey[] = [];
    for (const watched of this.views.values()) {
      const fingerprint = this.fingerprint(watched.requirement);
      if (fingerprint === watched.fingerprint) continue;
      watched.fingerprint = fingerprint;
      changed.push(...watched.keys);
    }
    return changed;
  }

  private fingerprint(requirement: ApplyRequirement): string {
    return this.progress.isLoaded ? fingerprintUnsupported(this.progress.of(requirement, 0)) : '';
  }
}

/** Returns a text that changes whenever messages or decisions about unsupported proxies may change. */
export function fingerprintUnsupported({
  unsupported: { counts, first },
  proxies,
}: Pick<ApplyProgress, 'unsupported' | 'proxies'>): string {
  return JSON.stringify([counts, first, proxies.total > 0]);
}
