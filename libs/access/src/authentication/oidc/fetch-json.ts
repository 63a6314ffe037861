const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Maximum size of a document of an issuer, bytes. */
const MAX_BYTES = 256 * 1024;

/** Timeout for one document, ms. */
const TIMEOUT = 5_000;

/** Reads a JSON document from a URL; rejects if the document is late, too large, redirected or no JSON. */
export type FetchJson = (url: string) => Promise<unknown>;

/**
 * Reads over https, or over http from this machine. The certificate must be signed by an authority that the machine
 * trusts.
 */
export const fetchJson: FetchJson = (url) => fetchJsonWithin(TIMEOUT, url);

/** As `fetchJson`; `timeout` is for the whole document, ms. */
export async function fetchJsonWithin(timeout: number, url: string): Promise<unknown> {
  checkUrl(url);
  const answer = await fetch(url, {
    redirect: 'error',
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(timeout),
  });
  if (!answer.ok) {
    await answer.body?.cancel();
    throw new Error(`${url} answers ${answer.status}`);
  }
  const document: unknown = JSON.parse(await boundedText(answer, url));
  return document;
}

/**
 * Throws unless an issuer may name this URL for its keys: a remote issuer must not name a port of this machine, where
 * anything may listen.
 */
export function checkKeySetUrl(uri: string, issuer: string): void {
  const shown = `got "${uri.slice(0, 200)}"`;
  if (!URL.canParse(uri)) throw new Error(`jwks_uri of its discovery document: must be an https URL; ${shown}`);
  const { protocol } = new URL(uri);
  if (protocol === 'https:' || (isPlainHere(uri) && isHere(issuer))) return;
  const rule = 'must be an https URL (http only to this machine, and only where the issuer is on this machine itself)';
  throw new Error(`jwks_uri of its discovery document: ${rule}; ${shown}`);
}

/** Throws unless the connection protects the content against changes on the way. */
function checkUrl(url: string): void {
  if (new URL(url).protocol === 'https:' || isPlainHere(url)) return;
  throw new Error(`${url.slice(0, 200)} must be an https URL (http only to this machine)`);
}

function isPlainHere(url: string): boolean {
  return new URL(url).protocol === 'http:' && isHere(url);
}

function isHere(url: string): boolean {
  return LOOPBACK.test(new URL(url).hostname);
}

async function boundedText({ body }: Response, url: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop by an exception cancels the body.
  const pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = body ?? [];
  for await (const chunk of pieces) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new Error(`${url} is larger than ${MAX_BYTES / 1024} KiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
