import type { PathNames } from '@causeway/api';
import type { CallerRights } from '@causeway/access';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { unreadBody } from '../http/body-parser';
import type { RequestCallers } from '../http/request-callers';
import type { RequestSignals } from '../http/request-signals';
import { header, pathParameter } from '../http/rest-request';

/** Sources of the properties of a request. */
export interface CallSources {
  readonly callers: Pick<RequestCallers, 'rightsOf'>;
  readonly signals: Pick<RequestSignals, 'getSignal'>;
}

/** One request of an operation, passed to its handler. */
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

  /** Signal that aborts when the request ends. Creating it costs a timer, so handlers read it only if they need it. */
  get signal(): AbortSignal {
    return this.sources.signals.getSignal(this.request);
  }

  /** Returns a decoded path parameter. */
  path(name: PathNames<P>): string {
    return pathParameter(this.request, name);
  }

  /** Returns a header of the request. */
  header(name: string): string | undefined {
    return header(this.request, name);
  }

  /** Throws 413 for a body whose declared length no handler accepts, even if the handler reads none. */
  checkDeclaredLength(): void {
    unreadBody(this.request.body)?.checkDeclaredLength();
  }
}
