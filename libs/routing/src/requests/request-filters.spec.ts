import type { HttpRequest } from '../rules/request';
import { changePath, buildRedirect } from './request-filters';

const REQUEST: HttpRequest = {
  protocol: 'http',
  scheme: 'http',
  host: 'echo:8080',
  method: 'GET',
  path: '/foo',
  query: [],
  headers: [],
};

it.each([
  ['/foo/bar', '/foo', '/xyz', '/xyz/bar'],
  ['/foo/bar', '/foo', '/xyz/', '/xyz/bar'],
  ['/foo/bar', '/foo/', '/xyz', '/xyz/bar'],
  ['/foo/bar', '/foo/', '/xyz/', '/xyz/bar'],
  ['/foo', '/foo', '/xyz', '/xyz'],
  ['/foo/', '/foo', '/xyz', '/xyz/'],
  ['/foo/bar', '/foo', '', '/bar'],
  ['/foo/', '/foo', '', '/'],
  ['/foo', '/foo', '', '/'],
  ['/foo/', '/foo', '/', '/'],
  ['/foo', '/foo', '/', '/'],
  ['/foo', '/', '/xyz', '/xyz/foo'],
])('%s with prefix %s replaced by "%s" is %s', (path, matched, replacePrefixMatch, want) => {
  expect(changePath(path, { type: 'ReplacePrefixMatch', replacePrefixMatch }, matched)).toBe(want);
});

it.each([
  [{}, 80, 'http://echo/foo'],
  [{}, 8080, 'http://echo:8080/foo'],
  [{ scheme: 'https' }, 8080, 'https://echo/foo'],
  [{ scheme: 'http', port: 443 }, 8080, 'http://echo:443/foo'],
  [{ scheme: 'https', port: 443 }, 80, 'https://echo/foo'],
  [{ port: 80 }, 8080, 'http://echo/foo'],
])('a redirect %o at port %i goes to %s', (redirect, port, location) => {
  expect(buildRedirect(REQUEST, redirect, { port, matched: '/' })).toEqual({ statusCode: 302, location });
});
