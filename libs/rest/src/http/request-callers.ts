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

/** Connections of requests through the unix socket. */
export interface LocalConnections {
  has(socket: object): boolean;
  /** Returns the server while it listens. */
  listening(): readonly Server[];
  close(): Promise<void>;
}

/** Authenticates each request once, before it is routed (docs/design.md §6 Roles). */
export class RequestCallers {
  private readonly rights = new WeakMap<object, CallerRights>();
  private readonly monitor: AccessMonitor;

  constructor(
    private readonly access: RestAccess,
    /** Connections whose caller is an administrator. */
    readonly local: LocalConnections,
    clock: Clock,
  ) {
    this.monitor = new AccessMonitor({ ...access, clock });
  }

  /**
   * Authenticates the sender of a request and counts it for the rate limit. Rejects with Unauthenticated for invalid
   * credentials, even on public routes, and with RateLimited.
   */
  async identify(request: RestRequest): Promise<CallerRights> {
    const { policy, rates } = this.access;
    const address = request.socket.remoteAddress ?? '';
    const caller = await this.authenticate(request).catch((error: unknown) => {
      if (error instanceof Unauthenticated) rates.takeUnrecognised(address);
      throw error;
    });
    const rights = new CallerRights(policy, caller);
    // Set before the rate limit, so that the audit log names the refused caller.
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

  /** Calls `end` when the sender of a request loses the credentials or rights by which it was admitted, until the returned subscription is closed. */
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
      // A local address proves nothing: agents and proxies on this host forward requests of others.
      return this.local.has(request.socket) ? localAdmin : this.access.authenticator.authenticate(undefined);
    }
    const token = /^bearer +(\S+)$/i.exec(credentials.trim())?.[1];
    if (token === undefined) throw new Unauthenticated('the header Authorization must be "Bearer" and one token');
    return this.access.authenticator.authenticate(token);
  }
}
