import {
  AccessMonitor,
  anonymous,
  CallerRights,
  localAdmin,
  Unauthenticated,
  type Caller,
  type MonitoredResponse,
} from '@causeway/access';
import type { Server } from 'node:http';
import type { DomainError } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { RestAccess } from '../rest-dependencies';
import { header, type RestRequest } from './rest-request';

/** The connections of requests that come by the unix socket. */
export interface LocalConnections {
  has(socket: object): boolean;
  /** The server, while it listens. */
  listening(): readonly Server[];
  close(): Promise<void>;
}

/** Authenticates each request once, before it is routed (docs/design.md §6 Roles). */
export class RequestCallers {
  private readonly rights = new WeakMap<object, CallerRights>();
  private readonly monitor: AccessMonitor;

  constructor(
    private readonly access: RestAccess,
    /** Connections whose requests are an administrator's. */
    readonly local: LocalConnections,
    clock: Clock,
  ) {
    this.monitor = new AccessMonitor({ ...access, clock });
  }

  /**
   * Finds out who sends a request and counts it. Rejects with Unauthenticated for credentials that do not hold, also on
   * routes that need none, and with RateLimited.
   */
  async identify(request: RestRequest): Promise<CallerRights> {
    const { policy, rates } = this.access;
    const address = request.socket.remoteAddress ?? '';
    const caller = await this.authenticate(request).catch((error: unknown) => {
      if (error instanceof Unauthenticated) rates.takeUnrecognised(address);
      throw error;
    });
    const rights = new CallerRights(policy, caller);
    // Before the rate limit: the audit log says who was refused.
    this.rights.set(request, rights);
    rates.take(caller, address);
    return rights;
  }

  /** Returns the rights of the sender of an authenticated request. */
  rightsOf(request: RestRequest): CallerRights {
    const rights = this.rights.get(request);
    if (rights) return rights;
    throw new Error('the sender of this request was not identified');
  }

  /** Returns the sender of a request; nobody if it was not authenticated, or its credentials were refused. */
  callerOf(request: RestRequest): Caller {
    return this.rights.get(request)?.caller ?? anonymous;
  }

  /** Calls `end` when the sender of a request loses what let it in, until the returned answer is closed. */
  watch(request: RestRequest, end: (reason: DomainError) => void): MonitoredResponse {
    const authenticate = (): Promise<Caller> => this.authenticate(request);
    return this.monitor.watch({ rights: this.rightsOf(request), authenticate, end });
  }

  close(): void {
    this.monitor.close();
  }

  private async authenticate(request: RestRequest): Promise<Caller> {
    const credentials = header(request, 'authorization');
    if (credentials === undefined) {
      // An address proves nothing: an agent and a proxy connect from this machine with what others send.
      return this.local.has(request.socket) ? localAdmin : this.access.authenticator.authenticate(undefined);
    }
    const token = /^bearer +(\S+)$/i.exec(credentials.trim())?.[1];
    if (token === undefined) throw new Unauthenticated('the header Authorization must be "Bearer" and one token');
    return this.access.authenticator.authenticate(token);
  }
}
