import { httpProblem, type HttpRole } from './http-rule';

const roles: readonly HttpRole[] = [
  'changed header',
  'header value',
  'new path',
  'matched name',
  'matched text',
  'matched path',
];
/** Returns the roles in which a text is refused. */
const refusedAs = (text: string): readonly HttpRole[] => roles.filter((role) => httpProblem(role, text) !== undefined);

describe('headers that no resource may change', () => {
  it.each([
    'Content-Length',
    'content-length',
    'Transfer-Encoding',
    'Connection',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Trailers',
    'Upgrade',
    'HTTP2-Settings',
    'Host',
    'X-Forwarded-Client-Cert',
    'Proxy-Connection',
    'proxy-authorization',
    'Proxy-Status',
    'X-Envoy-Retry-On',
    'x-envoy-',
    'X-Causeway-Caller',
  ])('%s: it may be matched', (name) => {
    expect(refusedAs(name)).toEqual(['changed header']);
  });

  it.each([':path', ':authority', 'a b', 'x-a\r\nx-b', 'a:b', 'é', ''])('%j, which is no header name', (name) => {
    expect(httpProblem('changed header', name)).toBeDefined();
    expect(httpProblem('matched name', name)).toBeDefined();
  });

  it.each([
    'x-user',
    'X-Content-Length',
    'content-length-x',
    'proxy',
    'x-envoyed',
    'te-x',
    'Authorization',
    'x-forwarded-for',
  ])('but %s', (name) => {
    expect(httpProblem('changed header', name)).toBeUndefined();
  });
});

describe('texts of one line', () => {
  it.each(['a\r\nx-more: b', 'a\nb', 'a\r', 'a\0', '\x1b[2J', 'a\x7f', 'a\x0b'])('%j is none', (text) => {
    expect(refusedAs(text)).toEqual(roles);
  });

  it.each(['a b', 'a\tb', 'é', '"quoted"', '100%', ''])('%j is one', (text) => {
    expect(httpProblem('header value', text)).toBeUndefined();
    expect(httpProblem('matched text', text)).toBeUndefined();
  });
});

describe('paths', () => {
  const paths = (text: string) => (['new path', 'matched path'] as const).filter((role) => httpProblem(role, text));

  it.each([
    ['overlong slash', '/a%c0%afb'],
    ['overlong letter', '/api/%c1%b3ecret'],
    ['overlong in three bytes', '/a%E0%80%AFb'],
    ['overlong in four bytes', '/a%f0%80%80%afb'],
    ['of five bytes', '/a%f8%80%80%80%af'],
    ['cut short', '/a%c3'],
    ['cut short before a letter', '/a%e2%82b'],
    ['a tail alone', '/a%80'],
    ['a tail too many', '/a%c3%a9%a9'],
    ['half of a surrogate pair', '/a%ed%a0%80'],
    ['beyond Unicode', '/a%f4%90%80%80'],
    ['no escape', '/a%2'],
    ['no escape', '/100%'],
    ['a space', '/a b'],
    ['a line break', '/a\r\nb'],
    ['not escaped', '/é'],
  ])('may not be %s: %s', (_, text) => {
    expect(paths(text)).toEqual(['new path', 'matched path']);
  });

  it('that are written do not escape control characters', () => {
    expect(paths('/a%0d%0ab')).toEqual(['new path']);
    expect(paths('/a%7fb')).toEqual(['new path']);
  });

  it.each([
    '',
    '/',
    'a',
    '/a?b=c',
    '/a%20b',
    '/%2e',
    '/%C3%A9',
    '/%e2%82%ac',
    '/%ED%9F%BF',
    '/%f0%9f%98%80',
    '/%F4%8F%BF%BF',
  ])('may be %j', (text) => {
    expect(paths(text)).toEqual([]);
  });

  it('agree with the decoder of the platform on every escape of two bytes', () => {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const isText = (bytes: readonly number[]): boolean => {
      try {
        return decoder.decode(Uint8Array.from(bytes)) !== undefined;
      } catch {
        return false;
      }
    };
    const escaped = (bytes: readonly number[]) =>
      bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
    for (let first = 0; first < 256; first += 1) {
      for (let second = 0; second < 256; second += 1) {
        for (const bytes of [
          [first, second],
          [first, second, 0x80],
          [first, second, 0xbf, 0x80],
        ]) {
          const is = httpProblem('matched path', `/${escaped(bytes)}`) === undefined;
          if (is !== isText(bytes)) throw new Error(`${escaped(bytes)}: ${is}`);
        }
      }
    }
  });
});
