import type { X509Certificate } from 'node:crypto';
import { StayReview, Unauthenticated } from '@causeway/access';
import { DomainError, shortened, printableText } from '@causeway/resources';
import { errorText, type Clock, type TokenBucket } from '@causeway/runtime';
import { Node } from '@causeway/proto-gen';
import { status, type Metadata, type ServerDuplexStream } from '@grpc/grpc-js';
import { decodeRequest, readNodeBytes, ProtocolViolation, type AdsForm } from './ads-messages';
import { AdsSession } from './ads-session';
import type { SessionOptions } from './session-options';
import type { AdmittedProxy, ProxyAuthenticator, ProxyCaller } from './proxy-authenticator';

/** A gRPC call of a proxy, with parts that grpc-js does not expose. */
export interface AdsCall {
  readonly metadata: Metadata;
  readonly address: string;
  /** The certificate of the proxy in its TLS handshake, unverified. */
  readonly certificate: X509Certificate | undefined;
  readonly stream: ServerDuplexStream<Buffer, Buffer>;
  /** Writes a framed message directly, because grpc-js would copy it for each proxy. */
  write(frame: Buffer): void;
  /** Ends the call even if its peer does not read. */
  reset(): void;
  /** Records that the connection has shown valid credentials. */
  admitted(): void;
}

export interface AdsStreamOptions<V> {
  readonly auth: ProxyAuthenticator<V>;
  readonly clock: Clock;
  readonly requests: TokenBucket;
  readonly session: Omit<SessionOptions<V>, 'form' | 'send' | 'failed'>;
  /** Called when the proxy has been admitted. */
  readonly admitted: () => void;
  /** Called before the session of an admitted proxy is closed. */
  readonly closing: () => void;
  /** Called once; `why` is undefined if the proxy ended the stream. */
  readonly ended: (why: string | undefined) => void;
  /** Called on an error in this program. */
  readonly failed: (error: unknown) => void;
}

export type EndReason =
  'malformed' | 'unknown' | 'unauthenticated' | 'refused' | 'unavailable' | 'exhausted' | 'deadline';

const CODES: Readonly<Record<EndReason, status>> = {
  malformed: status.INVALID_ARGUMENT,
  unknown: status.NOT_FOUND,
  unauthenticated: status.UNAUTHENTICATED,
  refused: status.PERMISSION_DENIED,
  unavailable: status.UNAVAILABLE,
  exhausted: status.RESOURCE_EXHAUSTED,
  deadline: status.DEADLINE_EXCEEDED,
};

/** Maximum number of queued requests while a proxy is being authenticated. */
const MAX_WAITING = 64;

/** A request counts once for the rate limit, and once more for each of these bytes: its cost is linear in its size. */
const REQUEST_BYTES = 16 * 1024;

/** The time after which a stream is reset whose end the peer has not read, ms. */
const RESET_AFTER = 1_000;

/** Maximum length of the message of a status: it is sent in a header. */
const MAX_TEXT = 1_000;

/** One stream of one proxy on the wire: authentication, limits, and end. */
export class AdsStream<V> {
  readonly since: number;
  session: AdsSession<V> | undefined;
  node = '';
  private caller: ProxyCaller | undefined;
  private stay: StayReview<AdmittedProxy<V>> | undefined;
  private release: (() => void) | undefined;
  private readonly began: number;
  private waiting: Buffer[] = [];
  private isOver = false;

  constructor(
    readonly form: AdsForm,
    private readonly call: AdsCall,
    private readonly options: AdsStreamOptions<V>,
  ) {
    this.since = options.clock.now();
    this.began = options.clock.elapsed();
  }

  get address(): string {
    return this.call.address;
  }

  /** The user agent of the proxy; empty before its first request. */
  get userAgent(): string {
    return this.caller?.userAgent ?? '';
  }

  get proxyId(): string | undefined {
    return this.session?.proxyId;
  }

  /** Starts reading. */
  begin(): void {
    const { stream } = this.call;
    stream.on('data', (bytes: Buffer) => this.receive(bytes));
    stream.on('cancelled', () => this.finish(undefined));
    stream.on('error', (error: Error) => this.finish(error.message));
    stream.on('end', () => {
      this.finish(undefined);
      stream.end();
    });
  }

  /** Ends the stream for both sides; only the first call has an effect. */
  end(reason: EndReason, detail: string): void {
    if (this.isOver) return;
    const details = shortened(detail, MAX_TEXT, '…');
    this.finish(details);
    // The error listener of begin() takes this for an end by the peer, and finds that the stream is over.
    this.call.stream.emit('error', Object.assign(new Error(details), { code: CODES[reason], details }));
    this.options.clock.after(RESET_AFTER, () => this.call.reset());
  }

  /** Ends the stream if the proxy exceeded a timeout, and authenticates it again when its admission expires. */
  checkTime({ ackTimeout, firstRequest }: { readonly ackTimeout: number; readonly firstRequest: number }): void {
    const now = this.options.clock.elapsed();
    if (!this.session && now - this.began > firstRequest)
      return this.end('deadline', `no request of an admitted proxy in ${firstRequest} ms`);
    const oldest = this.session?.oldestUnacked;
    if (oldest !== undefined && now - oldest > ackTimeout)
      return this.end('deadline', `a response was not acked in ${ackTimeout} ms`);
    this.stay?.checkTime();
  }

  /** Authenticates the proxy again. */
  review(): void {
    this.stay?.review();
  }

  private receive(bytes: Buffer): void {
    if (this.isOver) return;
    const cost = 1 + Math.floor(bytes.length / REQUEST_BYTES);
    if (this.options.requests.take(cost) !== undefined) return this.end('exhausted', 'too many requests');
    this.read(() => {
      const node = readNodeBytes(this.form, bytes);
      if (this.session) return this.take(bytes);
      this.waiting.push(bytes);
      if (this.waiting.length > MAX_WAITING) throw new ProtocolViolation('too many requests before the first answer');
      if (this.waiting.length === 1) this.introduce(node && Node.decode(node));
    });
  }

  /** Decodes a request of an admitted proxy: a whole request costs more than its node. */
  private take(bytes: Buffer): void {
    this.read(() => {
      const request = decodeRequest(this.form, bytes);
      if (request.type === '') return this.end('malformed', 'type_url: must be set');
      this.guarded(() => this.session?.receive(request));
    });
  }

  private read(action: () => void): void {
    try {
      action();
    } catch (error) {
      if (error instanceof ProtocolViolation) this.end('exhausted', error.message);
      else this.end('malformed', `no discovery request: ${errorText(error)}`);
    }
  }

  private guarded(action: () => void): void {
    try {
      action();
    } catch (error) {
      if (error instanceof ProtocolViolation) this.end('exhausted', error.message);
      else this.fail(error);
    }
  }

  private fail(error: unknown): void {
    this.options.failed(error);
    this.end('unavailable', 'internal error');
  }

  /** Authenticates the proxy by its first request. */
  private introduce(node: Node | undefined): void {
    if (!node || node.id === '') return this.end('malformed', 'node.id: must be set in the first request');
    this.node = printableText(node.id, 256);
    const { certificate } = this.call;
    const caller: ProxyCaller = {
      ...(certificate && { certificate }),
      node: node.id,
      cluster: node.cluster,
      metadata: node.metadata ?? {},
      userAgent: printableText(formatUserAgent(node), 128),
      authorization: String(this.call.metadata.get('authorization')[0] ?? ''),
      address: this.call.address,
    };
    this.caller = caller;
    this.stay = new StayReview({
      ask: () => this.options.auth.admit(caller),
      clock: this.options.clock,
      expired: 'the token of the proxy has expired',
      answered: (admitted) => this.admitted(admitted),
      refused: (error) => this.end(toEndReason(error), errorText(error)),
      dropped: ({ release }) => release?.(),
    });
    this.stay.review();
  }

  /** Starts the session after the first admission. */
  private admitted({ proxy, release }: AdmittedProxy<V>): void {
    this.release?.();
    this.release = release;
    if (!this.session) return this.beginSession(proxy);
    if (proxy.id !== this.proxyId) return this.end('unavailable', 'node.id now names another proxy');
    this.guarded(() => this.session?.become(proxy));
  }

  private beginSession(proxy: AdmittedProxy<V>['proxy']): void {
    const { session } = this.options;
    const send = (frame: Buffer): void => {
      if (!this.isOver) this.call.write(frame);
    };
    const failed = (error: unknown): void => this.fail(error);
    this.session = new AdsSession(proxy, { ...session, form: this.form, send, failed });
    this.call.admitted();
    this.options.admitted();
    for (const request of this.waiting.splice(0)) if (!this.isOver) this.take(request);
  }

  private finish(why: string | undefined): void {
    if (this.isOver) return;
    this.isOver = true;
    this.stay?.close();
    this.waiting = [];
    if (this.session) this.options.closing();
    this.session?.close();
    this.release?.();
    this.options.ended(why);
  }
}

function toEndReason(error: unknown): EndReason {
  if (error instanceof Unauthenticated) return 'unauthenticated';
  switch (error instanceof DomainError ? error.type : undefined) {
    case 'Forbidden':
      return 'refused';
    case 'NotFound':
      return 'unknown';
    case 'Invalid':
      return 'malformed';
    default:
      return 'unavailable';
  }
}

function formatUserAgent({ userAgentName, userAgentVersionType }: Node): string {
  const version = userAgentVersionType;
  if (version?.$case === 'userAgentVersion') return `${userAgentName} ${version.value}`;
  const number = version?.value.version;
  return number ? `${userAgentName} ${number.majorNumber}.${number.minorNumber}.${number.patch}` : userAgentName;
}
