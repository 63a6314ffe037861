import { shippedDefinition, shippedDefinitionName, shippedPolicies } from '@causeway/policies';
import { globalIdentity, type Identity, type JsonObject } from '@causeway/resources';
import { plainTokens } from '../support/rest-access';
import { restFixture, type FixtureOptions, type ParsedJson, type RestFixture } from './rest-fixture';

const id = (kind: string, namespace: string, name: string): Identity => ({
  kind,
  mesh: 'default',
  zone: 'east',
  namespace,
  name,
});

/** Fields of a policy of a test, besides its spec. */
interface PolicyTraits {
  readonly namespace?: string;
  readonly on?: JsonObject;
  readonly token?: string;
}

/**
 * The bakery of the seed's parable, over REST: Ana owns the namespace `baker` and may not read policies; Chihiro is an administrator. Tokens
 * are `ana:` and `chihiro:causeway:admins`.
 */
export class Bakery {
  private constructor(readonly rest: RestFixture) {}

  static async open(options: Pick<FixtureOptions, 'callers'> = {}): Promise<Bakery> {
    const rest = await restFixture({ ...options, access: { verifiers: [plainTokens], open: false } });
    const service = (name: string, ports = [80]) => ({
      id: id('MeshService', 'baker', name),
      spec: { selector: { dataplaneTags: { app: name } }, ports: ports.map((port) => ({ port, name: `p${port}` })) },
    });
    const dataplane = (app: string, address: string, ports: readonly number[]) => ({
      id: id('Dataplane', 'baker', app),
      spec: { networking: { address, inbound: ports.map((port) => ({ port, tags: { app } })) } },
    });
    await rest.seed(
      dataplane('baker', '10.0.0.1', [80, 81]),
      dataplane('oven', '10.0.0.2', [80]),
      ...shippedPolicies.map((policy) => ({
        id: globalIdentity('MetaresourceDefinition', shippedDefinitionName(policy)),
        spec: shippedDefinition(policy),
      })),
      { id: globalIdentity('Namespace', 'baker') },
      { id: globalIdentity('Namespace', 'other') },
      service('baker', [80, 81]),
      service('oven'),
      service('shop'),
      {
        id: id('HTTPRoute', 'baker', 'baker'),
        spec: {
          parentRefs: [{ kind: 'Service', name: 'baker', port: 80 }],
          rules: [
            {
              name: 'cakes',
              matches: [{ path: { type: 'PathPrefix', value: '/cakes' } }],
              backendRefs: [{ name: 'oven', port: 80 }],
            },
            { name: 'rest', backendRefs: [{ name: 'baker', port: 80 }] },
          ],
        },
      },
      {
        id: globalIdentity('Role', 'baker-owner'),
        spec: { rules: [{ verbs: ['*'], kinds: ['MeshService', 'HTTPRoute', 'Namespace'] }] },
      },
      {
        id: globalIdentity('RoleBinding', 'ana'),
        spec: { role: 'baker-owner', subjects: [{ kind: 'User', name: 'ana' }], namespaces: ['baker'] },
      },
    );
    return new Bakery(rest);
  }

  /** Status and body of a GET. */
  async get(path: string, token = ADMIN): Promise<readonly [number, ParsedJson]> {
    const url = path.startsWith('/') ? path : `/meshes/default/${path}`;
    const answer = await this.rest.server.inject({ url, headers: { authorization: `bearer ${token}` } });
    return [
      answer.statusCode,
      answer.headers['content-type']?.toString().includes('json') ? answer.json() : answer.body,
    ];
  }

  /** Status and body of a POST. */
  async post(path: string, payload: object, token = ADMIN): Promise<readonly [number, ParsedJson]> {
    const url = `/meshes/default/${path}`;
    const headers = { authorization: `bearer ${token}` };
    const answer = await this.rest.server.inject({ method: 'POST', url, headers, payload });
    return [answer.statusCode, answer.json()];
  }

  /** Returns the document of a policy; on its own Namespace unless `on` is given. */
  document(type: string, name: string, spec: object, { namespace = 'baker', on }: PolicyTraits = {}): object {
    const target = on ?? { kind: 'Namespace', name: namespace };
    return { type, mesh: 'default', namespace, name, spec: { targetRefs: [target], ...spec } };
  }

  /** Puts a policy, as an administrator unless a token is given. */
  async policy(type: string, name: string, spec: object, traits: PolicyTraits = {}): Promise<void> {
    const { namespace = 'baker', token = ADMIN } = traits;
    const plural = type.toLowerCase().replace(/y$/, 'ies');
    const answer = await this.rest.server.inject({
      method: 'PUT',
      url: `/meshes/default/${plural}/${name}?namespace=${namespace}`,
      payload: this.document(type, name, spec, traits),
      headers: { authorization: `bearer ${token}` },
    });
    if (answer.statusCode >= 300) throw new Error(answer.body);
  }

  close(): Promise<void> {
    return this.rest.close();
  }
}

const ADMIN = 'chihiro:causeway:admins';
/** Owns the namespace `baker`, without a right on policies. */
export const ANA = 'ana:';
