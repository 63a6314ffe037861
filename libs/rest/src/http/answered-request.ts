/** A request that was answered, for metrics and the access log: nothing of its query, its body or its credentials. */
export interface AnsweredRequest {
  /** `X-Request-Id`: the client's where that is well-formed, else one of ours. */
  readonly id: string;
  /** The trace that it belongs to; absent where there is none. */
  readonly traceId?: string;
  readonly method: string;
  /** As the router has it, such as `/meshes/:mesh/:kind/:name`; empty where no route took it. */
  readonly route: string;
  /** At most 200 characters. */
  readonly path: string;
  readonly status: number;
  /** From the first byte of its head to the last of the answer. */
  readonly ms: number;
  /** True of a stream of events, which takes as long as its client stays. */
  readonly isWatch: boolean;
  /** The sender; empty if unknown. */
  readonly user: string;
  readonly address: string;
}

/** Called for each answered request; must not throw and must be quick. */
export type RequestObserver = (request: AnsweredRequest) => void;
