import { identityKey } from '@causeway/resources';
import type { Asked } from './progress';
import { viewKey, type ProxyProgress } from './proxy-progress';

interface Watched {
  readonly asked: Pick<Asked, 'concerned' | 'needs'>;
  readonly keys: Set<string>;
  said: string;
}

/** Tells of which resources other proxies than before cannot obey them. What is looked at are views, which many resources share. */
export class Refusals {
  private readonly views = new Map<string, Watched>();
  private readonly viewOf = new Map<string, string>();

  constructor(private readonly progress: Pick<ProxyProgress, 'isLoaded' | 'of'>) {}

  /** Looks at a resource from now on, until `forget`. */
  watch({ resource, concerned, needs }: Pick<Asked, 'resource' | 'concerned' | 'needs'>): void {
    const key = identityKey(resource.id);
    const view = viewKey(concerned, needs);
    if (this.viewOf.get(key) === view) return;
    this.forget(key);
    this.viewOf.set(key, view);
    const known = this.views.get(view);
    if (known) known.keys.add(key);
    else
      this.views.set(view, {
        asked: { concerned, needs },
        keys: new Set([key]),
        said: this.said({ concerned, needs }),
      });
  }

  forget(key: string): void {
    const view = this.viewOf.get(key) ?? '';
    const watched = this.views.get(view);
    this.viewOf.delete(key);
    watched?.keys.delete(key);
    if (watched?.keys.size === 0) this.views.delete(view);
  }

  /** The keys of resources whose refusals are others than at the call before. Linear in the proxies of all views. */
  take(): readonly string[] {
    const moved: string[] = [];
    for (const watched of this.views.values()) {
      const said = this.said(watched.asked);
      if (said === watched.said) continue;
      watched.said = said;
      moved.push(...watched.keys);
    }
    return moved;
  }

  private said({ concerned, needs }: Watched['asked']): string {
    if (!this.progress.isLoaded) return '';
    const { unable, proxies } = this.progress.of(concerned, needs, 0);
    return `${unable.total} ${proxies.total > 0} ${unable.waitingFor.join(' ')}`;
  }
}
