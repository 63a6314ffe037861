import type { IncomingMessage } from 'node:http';
import { ApiError } from '../api-error';
import type { RestTransport, SentRequest } from './rest-calls';

/** Replaces HTTP on a gRPC connection: every call is refused with an error that names REST. */
export class RefusingRestTransport implements RestTransport {
  constructor(readonly server: URL) {}

  open({ path }: SentRequest): Promise<IncomingMessage> {
    const { protocol, host } = this.server;
    return Promise.reject(
      new ApiError(
        'rest-only',
        `${protocol}//${host} is a gRPC address, and only REST answers this (${path}): use the http:// or https:// address`,
      ),
    );
  }

  read(): Promise<string> {
    return Promise.resolve('');
  }

  async *lines(): AsyncGenerator<string> {}
}
