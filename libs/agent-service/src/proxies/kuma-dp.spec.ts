import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeRequest, type AdsForm } from '@causeway/xds-server/testing';
import { readProxyNode } from './proxy-node';

interface FirstRequest {
  readonly title: string;
  readonly form: AdsForm;
  readonly base64: string;
}

/** First requests of Envoys that kuma-dp 2.14.3 started, without the list of Envoy's extensions. */
const recorded: FirstRequest[] = JSON.parse(
  readFileSync(join(__dirname, '../../testdata/kuma-dp/first-requests.json'), 'utf8'),
);

describe('the first request of a proxy of kuma-dp', () => {
  const dataplane = (name: string) => ({
    type: 'dataplane',
    mesh: 'default',
    name,
    key: { type: 'delivered' },
    document: expect.stringContaining(`"name":"${name}"`) as string,
  });
  const systemAuthorities = '/etc/ssl/certs/ca-certificates.crt';
  it.each<[string, unknown]>([
    ["of a Dataplane, by Kuma's bootstrap", { ...dataplane('rec-1'), systemAuthorities }],
    ["of a Dataplane, delta, by Kuma's bootstrap", { ...dataplane('rec-2'), systemAuthorities }],
    ["of a ZoneIngress, by Kuma's bootstrap", { type: 'ingress', name: 'ringress' }],
    ['of a Dataplane, by our bootstrap', { ...dataplane('kd-4'), capture: { type: 'bind' } }],
  ])('%s says who it is', (title, want) => {
    const found = recorded.find((one) => one.title === title);
    if (!found) throw new Error(title);
    const { node, type, nonce, names, subscribe } = decodeRequest(found.form, Buffer.from(found.base64, 'base64'));
    expect([type, nonce, names, subscribe]).toEqual([
      'type.googleapis.com/envoy.config.cluster.v3.Cluster',
      '',
      [],
      [],
    ]);
    const metadata = node?.metadata ?? {};
    expect(readProxyNode({ node: node?.id ?? '', metadata, userAgent: node?.userAgentName ?? '' })).toEqual(want);
  });
});
