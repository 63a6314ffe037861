import type { CallerRights, MonitoredResponse } from '@causeway/access';
import type { WriteOptions } from '@causeway/admission';
import type { Http2Streams } from '@causeway/grpc-server';
import { orAborted, type Clock, type Logger } from '@causeway/runtime';
import type { handleBidiStreamingCall, handleServerStreamingCall, handleUnaryCall, Metadata } from '@grpc/grpc-js';
import { callOrigin, type CallAudit, type RefusableCall } from './call-audit';
import type { CallAuthenticator } from './call-authenticator';
import { toCallError } from './call-error';
import type { ActiveCall, ActiveCalls, CancellableCall } from './active-calls';
import { StreamWriter, type ByteStreamCall } from './stream-writer';

/** Caller and deadline of a call. */
export interface CallContext extends Pick<ActiveCall, 'signal' | 'client'> {
  readonly rights: CallerRights;
  /** Writer and request origin, for admission and the audit log. */
  readonly write: WriteOptions['context'];
}

/** The context of a call with a streamed answer, see CallContext. */
export interface StreamContext extends CallContext {
  /** Ends the stream when its caller loses the right or credentials for it. */
  readonly access: Pick<MonitoredResponse, 'needs'>;
}

/** Dependencies of handlers. */
export interface HandlerParts {
  readonly activeCalls: ActiveCalls;
  readonly callers: CallAuthenticator;
  readonly streams: Http2Streams;
  readonly audit: CallAudit;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Timeout of a unary call, and of a streaming call, ms. */
const UNARY_TIME = 30_000;
const STREAM_TIME = 24 * 3_600_000;

/** Creates gRPC handlers from async functions; an error that these throw becomes the status of the call. */
export class HandlerFactory {
  constructor(private readonly parts: HandlerParts) {}

  unary<Q, A>(answer: (request: Q, context: CallContext) => Promise<A>): handleUnaryCall<Q, A> {
    const { activeCalls, callers, audit, logger } = this.parts;
    return (call, respond) => {
      const active = activeCalls.begin(call, UNARY_TIME);
      const context = createContext(active, callers.rightsOf(call.metadata), call.metadata);
      answer(call.request, context)
        .then(
          (response) => respond(null, response),
          (error: unknown) => {
            audit.refused(refusable(call, context), error, call.request);
            respond(toCallError(error, logger));
          },
        )
        .finally(active.end);
    };
  }

  /** `serve` ends the call by returning or throwing, or by `end` of its writer. */
  serverStream<Q>(
    serve: (request: Q, context: StreamContext, writer: StreamWriter) => Promise<void>,
  ): handleServerStreamingCall<Q, Buffer> {
    return (call) => this.stream(call, (context, writer) => serve(call.request, context, writer), call.request);
  }

  /** As `serverStream`, for a call with streamed requests. */
  bidiStream<Q>(
    serve: (requests: AsyncIterable<Q>, context: StreamContext, writer: StreamWriter) => Promise<void>,
  ): handleBidiStreamingCall<Q, Buffer> {
    return (call) =>
      this.stream(call, (context, writer) => {
        // Destroying the call would keep its status from being sent.
        const requests = call.iterator({ destroyOnReturn: false });
        return serve(untilAborted(requests, context.signal), context, writer);
      });
  }

  private stream(
    call: StreamedCall,
    serve: (context: StreamContext, writer: StreamWriter) => Promise<void>,
    request?: unknown,
  ): void {
    const { activeCalls, callers, streams, audit, clock, logger } = this.parts;
    const active = activeCalls.begin(call, STREAM_TIME);
    const context = createContext(active, callers.rightsOf(call.metadata), call.metadata);
    const recordRefusal = (error: unknown): void => audit.refused(refusable(call, context), error, request);
    const writer = new StreamWriter(
      call,
      { streams, clock, errorOf: (error) => toCallError(error, logger) },
      active.signal,
    );
    const access = callers.watch(call.metadata, (reason) => {
      recordRefusal(reason);
      writer.refuse(reason);
      active.abort(reason);
    });
    serve({ ...context, access }, writer)
      .then(
        () => writer.end(),
        (error: unknown) => {
          // The signal's reason is already recorded, or is no refusal.
          if (error !== active.signal.reason) recordRefusal(error);
          writer.end(error);
        },
      )
      .finally(() => {
        access.close();
        active.end();
      });
  }
}

/** Metadata and path of a call. */
interface AnsweredCall {
  readonly metadata: Metadata;
  getPath(): string;
}

/** A call with a streamed answer. */
type StreamedCall = AnsweredCall & CancellableCall & ByteStreamCall;

function refusable(call: AnsweredCall, { rights, client }: CallContext): RefusableCall {
  return { path: call.getPath(), metadata: call.metadata, caller: rights.caller, address: client };
}

/** Yields the requests of a call; rejects with the reason of the signal, also while waiting for a request. */
async function* untilAborted<Q>(requests: AsyncIterator<Q>, signal: AbortSignal): AsyncGenerator<Q, void> {
  for (;;) {
    const next = await orAborted(requests.next(), signal);
    if (next.done === true) return;
    yield next.value;
  }
}

function createContext({ signal, client }: ActiveCall, rights: CallerRights, metadata: Metadata): CallContext {
  return { signal, client, rights, write: { caller: rights.caller, origin: callOrigin(client, metadata) } };
}
