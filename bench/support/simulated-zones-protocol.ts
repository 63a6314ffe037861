/** A zone that a process of simulated zones plays. */
export interface SimulatedZone {
  readonly zone: string;
  readonly token: string;
}

/** Commands for a process of simulated zones. */
export type Order =
  | {
      readonly type: 'join';
      readonly zones: readonly SimulatedZone[];
      /** `host:port` of the global. */
      readonly address: string;
      /** The certificate that the global is verified by. */
      readonly caFile: string;
    }
  /** Wait for a service in all zones of the process. */
  | { readonly type: 'follow'; readonly service: string }
  /** Make it in the first zone of the process. */
  | { readonly type: 'write'; readonly service: string };

/** Answers of the simulated zones; `at` is ms of a clock that all processes of a machine share. */
export type Answer =
  | { readonly type: 'joined' }
  | { readonly type: 'following' }
  | { readonly type: 'written'; readonly at: number }
  | { readonly type: 'everywhere'; readonly at: number };
