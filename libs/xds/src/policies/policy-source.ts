import type { EffectiveRules } from './effective-rules';

/** What a change of policies, routes or services may have changed; frontends by their keys. */
export interface PolicyChange {
  readonly rules: readonly { readonly kind: string; readonly frontend: string; readonly group: string }[];
}

/** The effective policies of a process, and what becomes of them. */
export interface PolicySource {
  readonly table: EffectiveRules;
  /** Resolves when the policies were read once: before it nobody is to be told what they would change. */
  whenLoaded(): Promise<void>;
  /** Calls the listener after each change, until the returned function is called. */
  subscribe(listener: (change: PolicyChange) => void): () => void;
}

/** Where there are no policies. */
export const NO_POLICIES: PolicySource = {
  table: { effectiveOfRule: () => undefined },
  whenLoaded: () => Promise.resolve(),
  subscribe: () => () => undefined,
};
