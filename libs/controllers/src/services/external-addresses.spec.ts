import { findCondition, type JsonObject, type Resource } from '@causeway/resources';
import { planExternalAddresses, type ExternalHosts } from './external-addresses';

type Known = ReturnType<ExternalHosts['resolve']>;
const KNOWN: Readonly<Record<string, Known>> = {
  'good.example': { addresses: ['203.0.113.7'], refused: [] },
  'mixed.example': { addresses: ['203.0.113.7'], refused: ['127.0.0.1'] },
  'lo.example': { addresses: [], refused: ['127.0.0.1'] },
  '169.254.169.254': { addresses: [], refused: ['169.254.169.254'] },
  'missing.example': { addresses: [], refused: [] },
  'new.example': { addresses: [], refused: [], isPending: true },
};
const hosts = { resolve: (host: string): Known => KNOWN[host] ?? { addresses: [], refused: [] } };

function service(addresses: readonly string[], status?: JsonObject): Resource {
  const endpoints = addresses.map((address) => ({ address, port: 443 }));
  return {
    id: { kind: 'MeshExternalService', mesh: 'default', zone: '', namespace: '', name: 'api' },
    labels: {},
    spec: { match: { port: 443 }, endpoints },
    ...(status && { status }),
    uid: '',
    generation: 3,
    revision: 1,
    creationOrder: 0,
    createdAt: 0,
    modifiedAt: 0,
    freed: [],
    origin: { incarnation: '', revision: 0, committedAt: 0 },
  };
}

describe('the condition of a service outside the mesh that may not be dialled', () => {
  it.each<[string, readonly string[], RegExp | undefined]>([
    [
      'a name that leads to loopback',
      ['lo.example'],
      /CAUSEWAY_EXTERNAL_MAY_DIAL of the zone refuses 127\.0\.0\.1 of lo\.example$/,
    ],
    ['an address', ['169.254.169.254'], /refuses 169\.254\.169\.254$/],
    [
      'several',
      ['lo.example', '169.254.169.254', 'missing.example'],
      /127\.0\.0\.1 of lo\.example, 169\.254\.169\.254$/,
    ],
    ['one address of a name may', ['mixed.example'], undefined],
    ['one of two endpoints may', ['lo.example', 'good.example'], undefined],
    ['nothing is known of the name', ['missing.example'], undefined],
    ['the name is not resolved yet', ['new.example', 'lo.example'], undefined],
    ['no endpoints', [], undefined],
  ])('%s', (_, addresses, message) => {
    const planned = planExternalAddresses(service(addresses), hosts, 0);
    const condition = findCondition(planned?.status, 'AddressesRefused');
    if (!message) expect(planned).toBeUndefined();
    else
      expect(condition).toMatchObject({
        status: 'True',
        reason: 'MayNotBeDialled',
        observedGeneration: 3,
        message: expect.stringMatching(message),
      });
    if (planned) expect(planExternalAddresses(service(addresses, planned.status), hosts, 9)).toBeUndefined();
  });

  it('goes when an address may be dialled, and stays while a name is not resolved', () => {
    const status = planExternalAddresses(service(['lo.example']), hosts, 0)?.status;
    expect(planExternalAddresses(service(['new.example'], status), hosts, 1)).toBeUndefined();
    expect(planExternalAddresses(service(['good.example'], status), hosts, 1)?.status).toEqual({});
  });
});
