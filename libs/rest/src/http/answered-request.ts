/** An answered request, for metrics and the access log, without query, body and credentials. */
export interface AnsweredRequest {
  /** `X-Request-Id`: the client's if well-formed, else a generated one. */
  readonly id: string;
  /** Id of its trace; absent if there is none. */
  readonly traceId?: string;
  readonly method: string;
  /** Pattern of the router, such as `/meshes/:mesh/:kind/:name`; empty if no route matched. */
  readonly route: string;
  /** Path, at most 200 characters. */
  readonly path: string;
  readonly status: number;
  /** Duration from the first byte of the head to the last byte of the answer. */
  readonly ms: number;
  /** True for an event stream, which lasts as long as its client stays. */
  readonly isWatch: boolean;
  /** Name of the sender; empty if unknown. */
  readonly user: string;
  readonly address: string;
}

/** Called for each answered request; must not throw and must be fast. */
export type RequestObserver = (request: AnsweredRequest) => void;
