import { HttpError } from './http-error';
import { pathOf } from './route-table';

/** Longest path and query, in characters as they come; a name or a selector of a legal length fits many times. */
export const MAX_PATH_LENGTH = 8_192;
export const MAX_QUERY_LENGTH = 8_192;

/** Most parameters of a query. */
export const MAX_QUERY_PARAMETERS = 64;

/** Control characters of ASCII, as they are and as they are encoded. */
const CONTROL = /[\u0000-\u001f\u007f]|%(?:[01][0-9a-f]|7f)/i;

/** What the first line of a request breaks: 400 or 414; undefined where it may go on. Costs its length. */
export function requestLineError(url: string): HttpError | undefined {
  const path = pathOf(url);
  const query = url.slice(path.length + 1);
  if (path.length > MAX_PATH_LENGTH)
    return new HttpError(414, `A path may have ${MAX_PATH_LENGTH} characters, this one has ${path.length}.`);
  if (query.length > MAX_QUERY_LENGTH)
    return new HttpError(414, `A query may have ${MAX_QUERY_LENGTH} characters, this one has ${query.length}.`);
  const parameters = query.split('&', MAX_QUERY_PARAMETERS + 1);
  if (parameters.length > MAX_QUERY_PARAMETERS)
    return new HttpError(400, `A query may have ${MAX_QUERY_PARAMETERS} parameters; this one has more.`);
  if (CONTROL.test(path)) return new HttpError(400, 'The path of this request has a control character.');
  return controlIn(parameters);
}

function controlIn(parameters: readonly string[]): HttpError | undefined {
  const bad = parameters.findIndex((parameter) => CONTROL.test(parameter));
  if (bad < 0) return undefined;
  const name = /^[A-Za-z0-9_-]{1,40}(?==)/.exec(parameters[bad] ?? '')?.[0];
  const which = name === undefined ? `number ${bad + 1}` : `"${name}"`;
  return new HttpError(400, `The query of this request has a control character in parameter ${which}.`);
}
