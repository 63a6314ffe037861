import { HttpFailure } from './http-failure';
import { pathOf } from './paths';

/** Longest path and query, in characters as they come; a name or a selector of a legal length fits many times. */
export const LONGEST_PATH = 8_192;
export const LONGEST_QUERY = 8_192;

/** Most parameters of a query. */
export const MOST_PARAMETERS = 64;

/** Control characters of ASCII, as they are and as they are encoded. */
const CONTROL = /[\u0000-\u001f\u007f]|%(?:[01][0-9a-f]|7f)/i;

/** What the first line of a request breaks: 400 or 414; undefined where it may go on. Costs its length. */
export function requestLineFault(url: string): HttpFailure | undefined {
  const path = pathOf(url);
  const query = url.slice(path.length + 1);
  if (path.length > LONGEST_PATH)
    return new HttpFailure(414, `A path may have ${LONGEST_PATH} characters, this one has ${path.length}.`);
  if (query.length > LONGEST_QUERY)
    return new HttpFailure(414, `A query may have ${LONGEST_QUERY} characters, this one has ${query.length}.`);
  const parameters = query.split('&', MOST_PARAMETERS + 1);
  if (parameters.length > MOST_PARAMETERS)
    return new HttpFailure(400, `A query may have ${MOST_PARAMETERS} parameters; this one has more.`);
  if (CONTROL.test(path)) return new HttpFailure(400, 'The path of this request has a control character.');
  return controlIn(parameters);
}

function controlIn(parameters: readonly string[]): HttpFailure | undefined {
  const bad = parameters.findIndex((parameter) => CONTROL.test(parameter));
  if (bad < 0) return undefined;
  const name = /^[A-Za-z0-9_-]{1,40}(?==)/.exec(parameters[bad] ?? '')?.[0];
  const which = name === undefined ? `number ${bad + 1}` : `"${name}"`;
  return new HttpFailure(400, `The query of this request has a control character in parameter ${which}.`);
}
