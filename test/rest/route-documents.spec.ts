import { stringify } from 'yaml';
import { restFixture, type RestFixture } from './rest-fixture';

/** Routes as the examples of the Gateway API are written. */
const DOCUMENTS = [
  {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'checkout', namespace: 'shop' },
    spec: {
      parentRefs: [{ group: '', kind: 'Service', name: 'checkout', port: 8080 }],
      rules: [
        {
          matches: [
            {
              path: { type: 'PathPrefix', value: '/pay' },
              headers: [{ name: 'x-beta', value: 'yes' }],
              method: 'POST',
            },
          ],
          filters: [
            { type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'x-lane', value: 'b' }] } },
          ],
          backendRefs: [{ name: 'checkout-next', port: 8080, weight: 5 }],
          timeouts: { request: '10s', backendRequest: '2s' },
        },
        { backendRefs: [{ name: 'checkout', port: 8080 }] },
      ],
    },
  },
  {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'TCPRoute',
    metadata: { name: 'orders-db', namespace: 'shop' },
    spec: {
      parentRefs: [{ kind: 'Service', name: 'orders-db' }],
      rules: [{ backendRefs: [{ name: 'orders-db-new', port: 5432, weight: 1 }] }],
    },
  },
];

describe('routes in the Kubernetes form', () => {
  let rest: RestFixture;
  afterEach(() => rest.close());

  it.each(DOCUMENTS)('$kind is stored as it is, and read back equal (T002-23)', async (document) => {
    rest = await restFixture();
    const { kind, metadata } = document;
    const url = `/meshes/default/${kind.toLowerCase()}s/${metadata.name}?namespace=${metadata.namespace}`;
    const headers = { 'content-type': 'application/yaml' };
    const put = await rest.server.inject({ method: 'PUT', url, payload: stringify(document), headers });
    expect([put.statusCode, put.body]).toEqual([201, expect.any(String)]);
    const {
      apiVersion,
      kind: read,
      metadata: at,
      spec,
    } = (await rest.server.inject({ url: `${url}&format=kubernetes` })).json();
    expect({ apiVersion, kind: read, metadata: { name: at.name, namespace: at.namespace }, spec }).toEqual(document);
  });
});
