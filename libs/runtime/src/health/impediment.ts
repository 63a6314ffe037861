/** Purposes that operators may ask about besides answers: that writes take effect, and that proxies are sent what is current. */
export const PURPOSES = ['writes', 'traffic'] as const;

/** Something that a control plane cannot do now although it answers reads and serves proxies. */
export interface Impediment {
  readonly type: 'postgres' | 'leader' | 'global' | 'token';
  /** One line. */
  readonly reason: string;
  readonly advice: string;
  readonly stops: readonly (typeof PURPOSES)[number][];
}
