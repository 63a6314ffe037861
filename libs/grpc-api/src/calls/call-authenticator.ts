import {
  CallerRights,
  localAdmin,
  Unauthenticated,
  type AccessPolicy,
  type Authenticator,
  type Caller,
  type CallerRates,
} from '@causeway/access';
import { addressOf } from '@causeway/grpc-server';
import type { Logger } from '@causeway/runtime';
import { ServerInterceptingCall, type Metadata, type ServerInterceptor } from '@grpc/grpc-js';
import { callErrorOf } from './call-error';
import { isLocalCall } from './local-call';

/** What calls are authenticated by. */
export interface CallAuthenticatorParts {
  readonly authenticator: Authenticator;
  readonly policy: AccessPolicy;
  readonly rates?: CallerRates | undefined;
  /** Whether a call without credentials from this machine is an administrator's. */
  readonly localhostIsAdmin: boolean;
  readonly logger: Logger;
}

/** Services that everybody may ask: they say whether the server is well and which services there are. */
const OPEN = /^\/grpc\.(health|reflection)\./;

/** Finds out who calls before a byte of the request is read; an unauthenticated caller costs a few headers. */
export class CallAuthenticator {
  private readonly rights = new WeakMap<Metadata, CallerRights>();

  constructor(private readonly parts: CallAuthenticatorParts) {}

  readonly interceptor: ServerInterceptor = ({ path }, call) => {
    if (OPEN.test(path)) return new ServerInterceptingCall(call);
    return new ServerInterceptingCall(call, {
      start: (next) => {
        next({
          onReceiveMetadata: (metadata, proceed) => {
            this.callerOf(metadata, call.getPeer(), call.getHost()).then(
              (caller) => {
                this.rights.set(metadata, new CallerRights(this.parts.policy, caller));
                proceed(metadata);
              },
              (error: unknown) => call.sendStatus(callErrorOf(error, this.parts.logger)),
            );
          },
        });
      },
    });
  };

  /** The rights of the caller who sent this metadata. */
  rightsOf(metadata: Metadata): CallerRights {
    const rights = this.rights.get(metadata);
    if (!rights) throw new Error('a call was not authenticated');
    return rights;
  }

  private async callerOf(metadata: Metadata, peer: string, host: string): Promise<Caller> {
    const { authenticator, rates, localhostIsAdmin } = this.parts;
    const address = addressOf(peer);
    try {
      const token = bearerToken(metadata);
      const local = token === undefined && localhostIsAdmin && isLocalCall({ address, host, metadata });
      const caller = local ? localAdmin : await authenticator.authenticate(token);
      rates?.take(caller, address);
      return caller;
    } catch (error) {
      if (error instanceof Unauthenticated) rates?.takeUnrecognised(address);
      throw error;
    }
  }
}

/** The token of `authorization: Bearer TOKEN`; undefined without that header. */
function bearerToken(metadata: Metadata): string | undefined {
  const [given, ...more] = metadata.get('authorization').map(String);
  if (given === undefined) return undefined;
  const token = /^bearer +(\S+)$/i.exec(given.trim())?.[1];
  if (token === undefined || more.length > 0)
    throw new Unauthenticated('the metadata authorization must be one "Bearer TOKEN"');
  return token;
}
