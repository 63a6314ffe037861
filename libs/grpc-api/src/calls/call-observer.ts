import { readPeerAddress } from '@causeway/grpc-server';
import {
  noTracer,
  REQUEST_ID,
  resolveRequestId,
  requestTrace,
  type Clock,
  type RequestTrace,
  type Span,
  type Tracer,
} from '@causeway/runtime';
import { Metadata, ServerInterceptingCall, status as Status, type ServerInterceptor } from '@grpc/grpc-js';

/** An answered call, for metrics and the access log: without messages and credentials. */
export interface AnsweredCall {
  /** `x-request-id`: the client's if it is well-formed, else a generated one. */
  readonly id: string;
  /** The trace that it belongs to; absent if there is none. */
  readonly traceId?: string;
  /** `/package.Service/Method`; always a method of this server. */
  readonly method: string;
  /** The name of the status, such as `NOT_FOUND`. */
  readonly code: string;
  /** Time from the request metadata to the status, ms. */
  readonly ms: number;
  /** True if the answer is a stream, which lasts as long as its client stays connected. */
  readonly isStream: boolean;
  readonly address: string;
}

/** Called for each answered call with the metadata that identifies its caller; must not throw and must be fast. */
export type CallListener = (call: AnsweredCall, metadata: Metadata | undefined) => void;

/** Identifiers of a call. */
export interface CallIds {
  readonly requestId: string;
  readonly trace?: RequestTrace;
}

const known = new WeakMap<Metadata, CallIds>();

/** Returns the identifiers of the call with this metadata; undefined before it was read. */
export function readCallIds(metadata: Metadata): CallIds | undefined {
  return known.get(metadata);
}

/** Assigns identifiers to every call, begins its span, and reports its result. */
export class CallObserver {
  constructor(
    private readonly parts: { readonly clock: Clock; readonly tracer?: Tracer | undefined },
    private readonly listener: CallListener,
  ) {}

  readonly interceptor: ServerInterceptor = ({ path, responseStream }, call) => {
    const { clock } = this.parts;
    const begun = clock.elapsed();
    let received: Metadata | undefined;
    let ids: CallIds = { requestId: resolveRequestId(undefined) };
    let span: Span | undefined;
    let isHeadSent = false;
    let isOver = false;
    const over = (code: Status): void => {
      if (isOver) return;
      isOver = true;
      const name = Status[code];
      span?.end(isFault(code) ? name : undefined);
      const { requestId: id, trace } = ids;
      const facts = { id, method: path, code: name, ms: clock.elapsed() - begun, isStream: responseStream };
      const traced = trace ? { traceId: trace.traceId } : {};
      this.listener({ ...facts, ...traced, address: readPeerAddress(call.getPeer()) }, received);
    };
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, proceed) => {
            received = metadata;
            span = this.begin(path, metadata);
            ids = readIds(metadata, span);
            known.set(metadata, ids);
            proceed(metadata);
          },
          onCancel: () => over(Status.CANCELLED),
        }),
      sendMetadata: (metadata, next) => {
        isHeadSent = true;
        metadata.set(REQUEST_ID, ids.requestId);
        next(metadata);
      },
      sendStatus: (answer, next) => {
        over(answer.code ?? Status.UNKNOWN);
        const metadata = answer.metadata ?? new Metadata();
        if (!isHeadSent) metadata.set(REQUEST_ID, ids.requestId);
        next({ ...answer, metadata });
      },
    });
  };

  private begin(path: string, metadata: Metadata): Span | undefined {
    const { tracer = noTracer } = this.parts;
    return tracer.request(path, readText(metadata, 'traceparent'));
  }
}

function readIds(metadata: Metadata, span: Span | undefined): CallIds {
  const requestId = resolveRequestId(readText(metadata, REQUEST_ID));
  const trace = requestTrace(span, readText(metadata, 'traceparent'));
  return trace ? { requestId, trace } : { requestId };
}

function readText(metadata: Metadata, name: string): string | undefined {
  const [first] = metadata.get(name);
  return typeof first === 'string' ? first : undefined;
}

/** Returns whether a status code means a fault of the server. */
function isFault(code: Status): boolean {
  return [Status.UNKNOWN, Status.INTERNAL, Status.UNAVAILABLE, Status.DATA_LOSS].includes(code);
}
