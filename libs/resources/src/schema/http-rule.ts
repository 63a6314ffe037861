/**
 * Headers that no resource may change: those that determine the destination and the framing of a request (RFC 9112 §6),
 * hop-by-hop headers (RFC 9110 §7.6.1), and those that proxies use among themselves or that identify the caller. In
 * lower case; valid in RE2 and in JavaScript.
 */
export const FORBIDDEN_HEADERS =
  '^(?:host|content-length|transfer-encoding|connection|keep-alive|te|trailers?|upgrade|http2-settings|x-forwarded-client-cert)$|^:|^(?:proxy|x-envoy|x-causeway)-';
const forbidden = new RegExp(FORBIDDEN_HEADERS);

/** A header name in lower case (RFC 9110 §5.1). */
export const LOWER_CASE_HEADER = "^[a-z0-9!#$%&'*+\\-.^_`|~]+$";
const token = /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/;

/** A single line of text: no control characters except tabs. */
export const ONE_LINE = '^[^\\x00-\\x08\\x0a-\\x1f\\x7f]*$';
const oneLine = new RegExp(ONE_LINE);

const HEX = '[0-9A-Fa-f]';
const TAIL = `%[89ABab]${HEX}`;
/** One percent-encoded character beyond ASCII, as in RFC 3629: not overlong, not truncated, not half of a surrogate pair. */
export const ESCAPED_CHARACTER = [
  `%(?:[Cc][2-9A-Fa-f]|[Dd]${HEX})${TAIL}`,
  `%[Ee]0%[ABab]${HEX}${TAIL}`,
  `%[Ee][1-9A-Ca-cEFef]${TAIL}${TAIL}`,
  `%[Ee][Dd]%[89]${HEX}${TAIL}`,
  `%[Ff]0%[9ABab]${HEX}${TAIL}${TAIL}`,
  `%[Ff][1-3]${TAIL}${TAIL}${TAIL}`,
  `%[Ff]4%8${HEX}${TAIL}${TAIL}`,
].join('|');
const path = new RegExp(`^(?:[!-$&-~]|%[0-7]${HEX}|${ESCAPED_CHARACTER})*$`);

/**
 * Role of a text in a request or its response. `changed header`: a name that a filter sets, adds to or removes; `header value` and `new path`: texts
 * that a filter writes; `matched …`: patterns for requests, which may be anything that a request can contain.
 */
export type HttpRole =
  'changed header' | 'header value' | 'new path' | 'matched name' | 'matched text' | 'matched path';

/** Roles of texts that proxies write into messages. */
const WRITTEN: readonly HttpRole[] = ['changed header', 'header value', 'new path'];

/** Whether a text of this role is written into messages: an invalid one does harm, while others only match nothing. */
export const isWritten = (role: HttpRole): boolean => WRITTEN.includes(role);

/**
 * Returns why a resource must not contain this text, in words that follow the field's name; undefined if it may. The
 * only rule for headers and paths (docs/reference/routing.md, Headers and paths), used by admission and for stored
 * resources.
 */
export function httpProblem(role: HttpRole, text: string): string | undefined {
  switch (role) {
    case 'changed header':
      return headerChangeProblem(text);
    case 'matched name':
      return token.test(text) ? undefined : 'must be a name as headers have';
    case 'header value':
    case 'matched text':
      return oneLine.test(text) ? undefined : 'must be one line without control characters';
    case 'new path':
      return pathProblem(text) ?? (/%(?:[01]|7[Ff])/.test(text) ? 'must not escape control characters' : undefined);
    case 'matched path':
      return pathProblem(text);
  }
}

/** Returns why no proxy may change this header; undefined if it may. */
function headerChangeProblem(name: string): string | undefined {
  const lower = name.toLowerCase();
  if (lower === 'host') return 'must not be changed: URLRewrite with hostname does that';
  if (forbidden.test(lower)) return 'must not be changed: it frames messages, belongs to one connection, or to proxies';
  return token.test(name) ? undefined : 'must be a header name';
}

function pathProblem(text: string): string | undefined {
  if (!/^[!-~]*$/.test(text)) return 'must be of printable ASCII characters, others escaped as %XX in UTF-8';
  return path.test(text) ? undefined : 'must have % in escapes of UTF-8 only, none overlong or cut short';
}
