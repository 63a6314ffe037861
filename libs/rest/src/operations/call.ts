import type { PathNames } from '@causeway/api';
import type { CallerRights } from '@causeway/access';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { unreadBody } from '../http/body-parser';
import type { RequestCallers } from '../http/request-callers';
import type { RequestSignals } from '../http/request-signals';
import { header, pathParameter } from '../http/rest-request';

/** Sources of the facts about a request. */
export interface CallSources {
  readonly callers: Pick<RequestCallers, 'rightsOf'>;
  readonly signals: Pick<RequestSignals, 'signalOf'>;
}

/** One request of an operation, as its handler sees it. */
export class Call<P extends string = string> {
  constructor(
    readonly request: FastifyRequest,
    readonly reply: FastifyReply,
    private readonly sources: CallSources,
  ) {}

  /** Rights of the caller. */
  get rights(): CallerRights {
    return this.sources.callers.rightsOf(this.request);
  }

  /** The signal that aborts when the request is over. Making it costs a timer, so handlers ask for it where they need it. */
  get signal(): AbortSignal {
    return this.sources.signals.signalOf(this.request);
  }

  /** Returns a parameter of the path, decoded. */
  path(name: PathNames<P>): string {
    return pathParameter(this.request, name);
  }

  /** Returns a header of the request. */
  header(name: string): string | undefined {
    return header(this.request, name);
  }

  /** Throws 413 for a body that declares more bytes than any handler accepts, also where the handler reads none. */
  checkDeclaredLength(): void {
    unreadBody(this.request.body)?.checkDeclaredLength();
  }
}
