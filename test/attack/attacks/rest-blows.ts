import { request } from 'node:http';
import { ADMIN_HEADERS } from '../../support/admin-credential';
import { textOf, type Arena } from '../target';

/** Time for which an answer is awaited, ms. */
export const TIMEOUT = 30_000;
export const JSON_TYPE = { 'content-type': 'application/json' };

/** One request. */
export interface Blow {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends a blow and counts its status; 0 where there is no answer. */
export async function noted({ tally }: Arena, name: string, blow: SentBlow): Promise<number> {
  try {
    const status = await send(blow);
    tally.status(name, status);
    return status;
  } catch (error) {
    tally.note(name, textOf(error));
    return 0;
  }
}

/** A request with its target; as an administrator unless `isAnonymous`. */
export type SentBlow = Blow & { readonly base: string; readonly isAnonymous?: boolean };

function send({ base, method = 'GET', path, headers: own = {}, body, isAnonymous }: SentBlow): Promise<number> {
  const headers = isAnonymous ? own : { ...ADMIN_HEADERS, ...own };
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(base);
    const call = request({ hostname, port, path, method, headers, timeout: TIMEOUT, agent: false }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
      answer.on('error', reject);
    });
    call.on('timeout', () => call.destroy(new Error('no answer in 30 s')));
    call.on('error', reject).end(body);
  });
}
