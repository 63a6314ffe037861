import { request } from 'node:http';
import { connect } from 'node:net';
import { HealthCheckResponse_ServingStatus, HealthClient } from '@causeway/proto-gen';
import { shortened } from '@causeway/resources';
import { errorText } from '@causeway/runtime';
import { credentials, status, type ServiceError } from '@grpc/grpc-js';
import type { CheckResult } from './health-state';

/** Address at which a service of this machine listens. */
export interface ProbeTarget {
  /** An IP address. */
  readonly address: string;
  readonly port: number;
}

export interface HttpProbe {
  readonly path: string;
  /** Accepted status codes; empty: 200 to 299. */
  readonly status: readonly number[];
  /** Text that the body must contain; empty: any body. */
  readonly body: string;
}

/** Maximum size of a response body that is read, bytes. */
const MAX_BODY_BYTES = 64 * 1024;
const MAX_REASON_LENGTH = 300;

const UP: CheckResult = { ok: true };

/** Returns a failed result; truncates long reasons. */
export function failure(reason: string, isDefinite = false): CheckResult {
  return { ok: false, reason: shortened(reason, MAX_REASON_LENGTH, '…'), isDefinite };
}

/** Passes if a connection can be made. Ends when `signal` aborts. */
export function probeTcp({ address: host, port }: ProbeTarget, signal: AbortSignal): Promise<CheckResult> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, signal });
    socket.once('connect', () => {
      resolve(UP);
      socket.destroy();
    });
    socket.once('error', (error) => {
      resolve(failed(error, signal));
      socket.destroy();
    });
  });
}

/** Passes if the response has an accepted status, and the text in its first 64 KiB. */
export function probeHttp(
  { address: host, port }: ProbeTarget,
  { path, status: statuses, body }: HttpProbe,
  signal: AbortSignal,
): Promise<CheckResult> {
  return new Promise((resolve) => {
    const headers = { 'user-agent': 'causeway-agent', accept: '*/*', connection: 'close' };
    const call = request({ host, port, path, signal, headers, agent: false, maxHeaderSize: 16 * 1024 }, (answer) => {
      const code = answer.statusCode ?? 0;
      const isUp = statuses.length === 0 ? code >= 200 && code < 300 : statuses.includes(code);
      const finish = (result: CheckResult): void => {
        resolve(result);
        call.destroy();
      };
      if (!isUp) return finish(failure(`status ${code}`));
      if (body === '') return finish(UP);
      let seen = Buffer.alloc(0);
      answer.on('data', (chunk: Buffer) => {
        seen = Buffer.concat([seen, chunk.subarray(0, MAX_BODY_BYTES - seen.length)]);
        if (seen.includes(body)) finish(UP);
        else if (seen.length >= MAX_BODY_BYTES)
          finish(failure(`the first 64 KiB lack the text ${JSON.stringify(body)}`));
      });
      answer.once('end', () => finish(failure(`the answer lacks the text ${JSON.stringify(body)}`)));
      answer.once('error', (error) => resolve(failed(error, signal)));
    });
    call.once('error', (error) => resolve(failed(error, signal)));
    call.end();
  });
}

/** Passes if `grpc.health.v1` reports SERVING; an empty service name means the whole server. */
export function probeGrpc({ address, port }: ProbeTarget, service: string, signal: AbortSignal): Promise<CheckResult> {
  return new Promise((resolve) => {
    const host = address.includes(':') ? `[${address}]` : address;
    const client = new HealthClient(`${host}:${port}`, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_retries': 0,
      'grpc.max_receive_message_length': MAX_BODY_BYTES,
    });
    const call = client.check({ service }, (error: ServiceError | null, answer) => {
      signal.removeEventListener('abort', abort);
      client.close();
      if (!error) return resolve(servingResult(answer.status));
      if (signal.aborted) return resolve(failure('no answer in time'));
      const isRefused = error.code === status.UNAVAILABLE && error.details.includes('ECONNREFUSED');
      resolve(isRefused ? failure('connection refused', true) : failure(`${status[error.code]}: ${error.details}`));
    });
    const abort = (): void => call.cancel();
    signal.addEventListener('abort', abort, { once: true });
  });
}

function servingResult(serving: HealthCheckResponse_ServingStatus): CheckResult {
  if (serving === HealthCheckResponse_ServingStatus.SERVING) return UP;
  return failure(`grpc.health.v1 says ${HealthCheckResponse_ServingStatus[serving] ?? String(serving)}`);
}

function failed(error: Error, signal: AbortSignal): CheckResult {
  if (signal.aborted) return failure('no answer in time');
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ECONNREFUSED') return failure('connection refused', true);
  if (code === 'ECONNRESET') return failure('connection reset');
  return failure(errorText(error));
}
