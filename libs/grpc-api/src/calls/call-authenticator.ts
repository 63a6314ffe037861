import {
  AccessMonitor,
  anonymous,
  CallerRights,
  Unauthenticated,
  type AccessPolicy,
  type Authenticator,
  type Caller,
  type CallerRates,
  type MonitoredResponse,
} from '@causeway/access';
import { readPeerAddress } from '@causeway/grpc-server';
import type { DomainError } from '@causeway/resources';
import type { Clock, Logger } from '@causeway/runtime';
import {
  ServerInterceptingCall,
  type Metadata,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
} from '@grpc/grpc-js';
import type { CallAudit } from './call-audit';
import { toCallError } from './call-error';

/** Dependencies of authenticating calls. */
export interface CallAuthenticatorParts {
  readonly authenticator: Authenticator;
  readonly policy: AccessPolicy;
  readonly rates?: CallerRates | undefined;
  readonly audit: CallAudit;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Credentials of a call, and its caller. */
interface AuthenticatedCall {
  readonly rights: CallerRights;
  readonly authenticate: () => Promise<Caller>;
}

/** Services without authentication: health and reflection. */
const OPEN_SERVICES = /^\/grpc\.(health|reflection)\./;

/** Authenticates the caller before a byte of the request is read; an unauthenticated caller costs a few headers. */
export class CallAuthenticator {
  private readonly calls = new WeakMap<Metadata, AuthenticatedCall>();
  private readonly monitor: AccessMonitor;

  constructor(private readonly parts: CallAuthenticatorParts) {
    this.monitor = new AccessMonitor(parts);
  }

  /** `recognised` is called with the metadata of each call that has valid credentials. */
  interceptor(recognised: (metadata: Metadata) => void): ServerInterceptor {
    return ({ path }, call) => this.intercept(path, call, recognised);
  }

  private intercept(path: string, call: ServerInterceptingCallInterface, recognised: (metadata: Metadata) => void) {
    if (OPEN_SERVICES.test(path)) return new ServerInterceptingCall(call);
    return new ServerInterceptingCall(call, {
      start: (next) => {
        next({
          onReceiveMetadata: (metadata, proceed) => {
            const address = readPeerAddress(call.getPeer());
            const authenticate = (): Promise<Caller> => this.authenticate(metadata);
            this.identify(metadata, authenticate, address).then(
              () => {
                if (this.callerOf(metadata).by !== 'nothing') recognised(metadata);
                proceed(metadata);
              },
              (error: unknown) => {
                const caller = this.callerOf(metadata);
                this.parts.audit.refused({ path, metadata, caller, address }, error);
                call.sendStatus(toCallError(error, this.parts.logger));
              },
            );
          },
        });
      },
    });
  }

  /** Returns the rights of the caller who sent this metadata. */
  rightsOf(metadata: Metadata): CallerRights {
    return this.findCall(metadata).rights;
  }

  /** Returns the sender of this metadata; nobody if it was not authenticated. */
  callerOf(metadata: Metadata | undefined): Caller {
    return (metadata && this.calls.get(metadata)?.rights.caller) ?? anonymous;
  }

  /** Calls `end` when the caller of an open call loses the right or credentials for it, until the returned object is closed. */
  watch(metadata: Metadata, end: (reason: DomainError) => void): MonitoredResponse {
    return this.monitor.watch({ ...this.findCall(metadata), end });
  }

  close(): void {
    this.monitor.close();
  }

  private findCall(metadata: Metadata): AuthenticatedCall {
    const call = this.calls.get(metadata);
    if (!call) throw new Error('a call was not authenticated');
    return call;
  }

  private async identify(
    metadata: Metadata,
    authenticate: AuthenticatedCall['authenticate'],
    address: string,
  ): Promise<void> {
    const { rates, policy } = this.parts;
    const caller = await authenticate().catch((error: unknown) => {
      if (error instanceof Unauthenticated) rates?.takeUnrecognised(address);
      throw error;
    });
    // Before the rate limit: the audit log names the refused caller.
    this.calls.set(metadata, { rights: new CallerRights(policy, caller), authenticate });
    rates?.take(caller, address);
  }

  private async authenticate(metadata: Metadata): Promise<Caller> {
    return this.parts.authenticator.authenticate(bearerToken(metadata));
  }
}

/** Returns the token of `authorization: Bearer TOKEN`; undefined without that header. */
function bearerToken(metadata: Metadata): string | undefined {
  const [given, ...more] = metadata.get('authorization').map(String);
  if (given === undefined) return undefined;
  const token = /^bearer +(\S+)$/i.exec(given.trim())?.[1];
  if (token === undefined || more.length > 0)
    throw new Unauthenticated('the metadata authorization must be one "Bearer TOKEN"');
  return token;
}
