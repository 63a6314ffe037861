import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readBootstrapRequest } from './bootstrap-request';

interface Recorded {
  readonly title: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Requests that kuma-dp 2.14.3 posts. */
const recorded: Recorded[] = JSON.parse(
  readFileSync(join(__dirname, '../../testdata/kuma-dp/bootstrap-requests.json'), 'utf8'),
);

describe('the bootstrap request of kuma-dp', () => {
  it.each<[string, object]>([
    ['a Dataplane', { mesh: 'default', name: 'rec-1', proxyType: 'dataplane', token: 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln' }],
    ['a Dataplane, delta', { mesh: 'default', name: 'rec-2', proxyType: 'dataplane', token: '' }],
    ['a ZoneIngress', { name: 'ringress', proxyType: 'ingress', token: '' }],
  ])('of %s is read', (title, want) => {
    const found = recorded.find((one) => one.title === title);
    expect(found).toMatchObject({ method: 'POST', url: '/bootstrap', headers: { accept: 'application/json' } });
    const request = readBootstrapRequest(found?.body);
    expect(request).toMatchObject({
      ...want,
      authority: expect.stringContaining('BEGIN CERTIFICATE'),
      version: { kumaDp: { version: '2.14.3' }, envoy: { version: '1.40.0' } },
    });
    expect(request.features.includes('feature-delta-grpc')).toBe(title.includes('delta'));
    expect(request.document).toContain(`"name":"${request.name}"`);
  });
});
