import { compareText, type ResourceKey } from '@causeway/resources';
import type { NotTranslated } from './service-translation';

/** The reasons why parts of one policy are not translated, by the key of the resource that would contain them. */
interface Reasons {
  readonly texts: Map<string, string>;
  /** The first of the keys, which the message names. */
  first: string;
}

/** The policies that are not translated completely for zones of Kuma, with the reasons. A change costs the policies that it names. */
export class NotTranslatedPolicies {
  private readonly byPolicy = new Map<ResourceKey, Reasons>();
  private readonly byKey = new Map<string, readonly ResourceKey[]>();
  private changed = new Set<ResourceKey>();

  clear(): void {
    for (const policy of this.byPolicy.keys()) this.changed.add(policy);
    this.byPolicy.clear();
    this.byKey.clear();
  }

  /** Sets the parts that the resource under a key leaves out. `where`: the service as text. */
  set(key: string, where: string, notTranslated: readonly NotTranslated[]): void {
    const texts = new Map<ResourceKey, string>();
    for (const { port, policies, reason } of notTranslated)
      for (const policy of policies) if (!texts.has(policy)) texts.set(policy, `at ${where} port ${port} ${reason}`);
    for (const policy of this.byKey.get(key) ?? []) if (!texts.has(policy)) this.change(policy, key, undefined);
    for (const [policy, text] of texts) this.change(policy, key, text);
    if (texts.size > 0) this.byKey.set(key, [...texts.keys()]);
    else this.byKey.delete(key);
  }

  /** Returns an empty text if nothing is left out. */
  formatReason(policy: ResourceKey): string {
    const reasons = this.byPolicy.get(policy);
    if (!reasons) return '';
    const text = reasons.texts.get(reasons.first) ?? '';
    return reasons.texts.size > 1 ? `${text}; also at other services` : text;
  }

  /** Returns the policies whose reason changed since the last call. */
  takeChanged(): ReadonlySet<ResourceKey> {
    const { changed } = this;
    this.changed = new Set();
    return changed;
  }

  private change(policy: ResourceKey, key: string, text: string | undefined): void {
    const before = this.formatReason(policy);
    const reasons = this.byPolicy.get(policy) ?? { texts: new Map<string, string>(), first: key };
    if (text === undefined) reasons.texts.delete(key);
    else reasons.texts.set(key, text);
    const isGone = !reasons.texts.has(reasons.first);
    if (isGone) reasons.first = [...reasons.texts.keys()].sort(compareText)[0] ?? '';
    else if (text !== undefined && compareText(key, reasons.first) < 0) reasons.first = key;
    if (reasons.texts.size > 0) this.byPolicy.set(policy, reasons);
    else this.byPolicy.delete(policy);
    if (this.formatReason(policy) !== before) this.changed.add(policy);
  }
}
