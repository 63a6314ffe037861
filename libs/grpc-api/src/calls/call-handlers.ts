import type { CallerRights } from '@causeway/access';
import type { WriteOptions } from '@causeway/admission';
import type { Http2Streams } from '@causeway/grpc-server';
import type { Clock, Logger } from '@causeway/runtime';
import type { handleBidiStreamingCall, handleServerStreamingCall, handleUnaryCall, Metadata } from '@grpc/grpc-js';
import type { CallAuthenticator } from './call-authenticator';
import { callErrorOf } from './call-error';
import type { CallScope, CallScopes } from './call-scopes';
import { StreamWriter } from './stream-writer';

/** Who calls, and for how long the answer is wanted. */
export interface CallContext extends Pick<CallScope, 'signal' | 'client'> {
  readonly rights: CallerRights;
  /** Who writes, and from where, for admission and the audit log. */
  readonly write: WriteOptions['context'];
}

/** What handlers are made with. */
export interface CallHandlersParts {
  readonly scopes: CallScopes;
  readonly callers: CallAuthenticator;
  readonly streams: Http2Streams;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Longest time of a call that is answered once, and of one that is answered by a stream, ms. */
const UNARY_TIME = 30_000;
const STREAM_TIME = 24 * 3_600_000;

/** Makes gRPC handlers of async functions; whatever these throw becomes the status of the call. */
export class CallHandlers {
  constructor(private readonly parts: CallHandlersParts) {}

  unary<Q, A>(answer: (request: Q, context: CallContext) => Promise<A>): handleUnaryCall<Q, A> {
    const { scopes, callers, logger } = this.parts;
    return (call, respond) => {
      const scope = scopes.begin(call, UNARY_TIME);
      const context = contextOf(scope, callers.rightsOf(call.metadata), call.metadata);
      answer(call.request, context)
        .then(
          (response) => respond(null, response),
          (error: unknown) => respond(callErrorOf(error, logger)),
        )
        .finally(scope.end);
    };
  }

  /** `serve` ends the call by returning or throwing, or by `end` of its writer. */
  serverStream<Q>(
    serve: (request: Q, context: CallContext, writer: StreamWriter) => Promise<void>,
  ): handleServerStreamingCall<Q, Buffer> {
    return (call) => {
      const scope = this.parts.scopes.begin(call, STREAM_TIME);
      const context = contextOf(scope, this.parts.callers.rightsOf(call.metadata), call.metadata);
      const writer = this.writer(call, scope.signal);
      this.run(scope, writer, () => serve(call.request, context, writer));
    };
  }

  /** As `serverStream`, of a call whose requests are a stream too. */
  bidiStream<Q>(
    serve: (requests: AsyncIterable<Q>, context: CallContext, writer: StreamWriter) => Promise<void>,
  ): handleBidiStreamingCall<Q, Buffer> {
    return (call) => {
      const scope = this.parts.scopes.begin(call, STREAM_TIME);
      const context = contextOf(scope, this.parts.callers.rightsOf(call.metadata), call.metadata);
      const writer = this.writer(call, scope.signal);
      // Destroying the call would keep its status from being sent.
      const requests: AsyncIterable<Q> = { [Symbol.asyncIterator]: () => call.iterator({ destroyOnReturn: false }) };
      this.run(scope, writer, () => serve(requests, context, writer));
    };
  }

  private writer(call: ConstructorParameters<typeof StreamWriter>[0], gone: AbortSignal): StreamWriter {
    const { streams, clock, logger } = this.parts;
    return new StreamWriter(call, { streams, clock, errorOf: (error) => callErrorOf(error, logger) }, gone);
  }

  private run(scope: CallScope, writer: StreamWriter, serve: () => Promise<void>): void {
    serve()
      .then(
        () => writer.end(),
        (error: unknown) => writer.end(error),
      )
      .finally(scope.end);
  }
}

function contextOf({ signal, client }: CallScope, rights: CallerRights, metadata: Metadata): CallContext {
  const userAgent = metadata.get('user-agent')[0]?.toString();
  return {
    signal,
    client,
    rights,
    write: { caller: rights.caller, origin: { address: client, via: 'gRPC', userAgent } },
  };
}
