import type { RouteRule } from '@causeway/routing';
import { ENVOY } from '../support/envoy-process';
import { PORTS, RoutedPlane } from '../support/routed-plane';

const { http } = PORTS;
const ECHO = [{ kind: 'Service', name: 'echo', port: http }];
const exact = (value: string) => ({ matches: [{ path: { type: 'Exact', value } }] });
const to = { backendRefs: [{ name: 'echo', port: http }] };

/** A POST whose body is a request: who believes that the body has 3 bytes reads the rest as one. */
const CARRIER = 'GET /second?who=body HTTP/1.1\r\nhost: another\r\nx-from-the-body: 1\r\n\r\n';
const BODY = `abc${CARRIER}`;
const post = (path: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: echo\r\ncontent-length: ${BODY.length}\r\nconnection: close\r\n\r\n${BODY}`;

/** Resources that came by sync, from a backup or from an older version: admission takes none of this. */
describe.each([
  ['Content-Length', '3'],
  ['content-length', '3'],
  ['Transfer-Encoding', 'chunked'],
  ['Connection', 'close, x-user'],
  ['x-envoy-original-path', '/other'],
  ['X-Forwarded-Client-Cert', 'URI=spiffe://liar'],
  ['x-note', 'a\r\nx-more: b'],
])('a route that sets %s: %j', (name, value) => {
  (ENVOY === undefined ? it.skip : it)('is answered 500 by a real Envoy, and no process gets anything', async () => {
    const routed = await plane();
    const modifier = { type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name, value }] } };
    await routed.route('HTTPRoute', 'route', {
      parentRefs: ECHO,
      rules: [{ ...exact('/cl'), filters: [modifier], ...to }, to] satisfies RouteRule[],
    });
    const before = routed.received.length;
    const answer = await routed.sayBytes(post('/cl'), () => false);
    expect(routed.received.slice(before)).toEqual([]);
    expect(answer.split('\r\n')[0]).toBe('HTTP/1.1 500 Internal Server Error');
    const other = await routed.ask({ url: '/other' });
    expect([other.status, other.headers['x-more']]).toEqual([200, undefined]);
    expect(routed.received.slice(before)).toEqual(['/other']);
    expect(routed.decide({ method: 'POST', url: '/cl' }).outcome).toMatchObject({ type: 'refused', status: 500 });
    expect(routed.plane.problems()).toEqual([]);
    await routed.clear();
  });
});

let started: Promise<RoutedPlane> | undefined;

function plane(): Promise<RoutedPlane> {
  started ??= RoutedPlane.start().then(async (routed) => {
    await routed.service('echo');
    await routed.client('mesh');
    return routed;
  });
  return started;
}

afterAll(async () => (await started)?.stop());
