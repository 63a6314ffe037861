import { request as plainRequest, type IncomingMessage } from 'node:http';
import { Agent, request as tlsRequest } from 'node:https';

/** How a control plane's REST interface is reached. */
export interface Connection {
  readonly server: URL;
  /** A bearer token. */
  readonly token?: string;
  /** Certificates (PEM) by which the server is verified, instead of those that Node trusts. */
  readonly ca?: string;
  /** Accepts any certificate. */
  readonly insecure?: boolean;
}

/** One HTTP request; `body` is sent as it is. */
export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/**
 * Sends requests over HTTP or HTTPS. Not `fetch`: it takes no certificate authority, and loading it costs a third of the
 * start of the program.
 */
export class HttpTransport {
  private readonly agent: Agent | undefined;

  constructor({ server, ca, insecure = false }: Connection) {
    const trust = { keepAlive: true, rejectUnauthorized: !insecure, ...(ca === undefined ? {} : { ca }) };
    this.agent = server.protocol === 'https:' ? new Agent(trust) : undefined;
  }

  /** Resolves with the head of the answer, whatever its status. Rejects with the error of the connection. */
  send({ method, url, headers, body, signal }: HttpRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const options = { method, headers, ...(signal ? { signal } : {}) };
      const request = this.agent ? tlsRequest(url, { ...options, agent: this.agent }) : plainRequest(url, options);
      request.once('response', resolve).once('error', reject).end(body);
    });
  }
}

const UNKNOWN_AUTHORITY: readonly string[] = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

/** What went wrong with a connection, and what the user can do; one line. */
export function connectionFailure(server: URL, error: unknown): string {
  const where = server.href.replace(/\/$/, '');
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (UNKNOWN_AUTHORITY.includes(code))
    return `${where} shows a certificate of an unknown authority: name its authority with --ca-file FILE (or CAUSEWAY_CA_FILE)`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `${where} shows a certificate for another name: use a name or an address that the certificate has`;
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return `${where} shows a certificate that is not valid now: renew the certificate, or set the clock right`;
  if (code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return `${where} does not speak TLS: use http:// in its address`;
  if (code.startsWith('HPE_') || (code === 'ECONNRESET' && server.protocol === 'http:'))
    return `${where} does not answer in HTTP: does it need https:// in its address?`;
  return `cannot reach ${where}: is the control plane running? (--server, --context or CAUSEWAY_SERVER names another)`;
}
