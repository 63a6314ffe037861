import { explainRequest, listRoutesOfService } from '@causeway/api';
import { ExplainRequestResponse, ListRoutesResponse, RequestAnswer, ServiceRoutes } from '@causeway/proto-gen';
import { readAnswer } from './answer-message';

const named = { kind: 'MeshService', zone: 'east', namespace: 'default', name: 'redis' };

/** Every field once, so that a field that the message lacks is found. */
const WHOLE = {
  mesh: 'default',
  zone: 'east',
  steps: ['a step'],
  to: { service: named, port: 80, virtualIps: ['241.0.0.1'] },
  outcome: 'routed',
  dataplane: { ...named, kind: 'Dataplane' },
  decision: {
    group: 'producer',
    kind: 'HTTPRoute',
    route: { ...named, kind: 'HTTPRoute' },
    rule: '0',
    match: 'any',
    filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'a', value: 'b' }] } }],
  },
  shares: [
    {
      weight: 1,
      total: 2,
      destination: { services: [named], port: 80 },
      request: { path: '/', headers: [['a', 'b']] },
      responseHeaders: [{ set: [] }],
    },
    { weight: 1, total: 2, status: 500, grpcStatus: 14, reason: 'no backend' },
  ],
  mirrors: [
    { share: 0.5, destination: { services: [named], port: 81 } },
    { share: 1, reason: 'BackendNotFound' },
  ],
  status: 302,
  grpcStatus: 0,
  reason: 'why',
  location: 'http://other/',
  responseHeaders: [{ remove: ['x'] }],
  requestTimeout: 1_000,
  backendTimeout: 500,
  policies: [
    {
      kind: 'RetryPolicy',
      backend: { service: named, port: 80 },
      effective: { attempts: 4, nothing: null },
      fields: [{ field: '/attempts', policy: 'default/retries', strategy: 'override' }],
    },
  ],
  access: [
    {
      backend: { service: named, port: 80 },
      verdict: 'allowed',
      caller: 'spiffe://a/b',
      by: 'allow/0',
      policies: ['default/open'],
      message: 'let in',
      instances: 2,
    },
  ],
  lost: [{ route: 'r', rule: '1', match: 'm', reason: 'weaker' }],
  lostTotal: 1,
  notes: [],
};

const LEAST = { mesh: 'default', zone: '', steps: [], outcome: 'direct', lost: [], lostTotal: 0, notes: [] };

const sent = (answer: object): ExplainRequestResponse =>
  ExplainRequestResponse.decode(
    ExplainRequestResponse.encode({ answerJson: '', answer: RequestAnswer.fromJSON(answer) }).finish(),
  );

describe('answers over gRPC', () => {
  it.each([
    ['with every field', WHOLE],
    ['with no field but those that are always there', LEAST],
  ])('are those of REST, %s', (_, answer) => {
    expect(readAnswer(explainRequest, sent(answer))).toEqual(answer);
  });

  it('have every field that the definition has', () => {
    expect(Object.keys(WHOLE).sort()).toEqual(Object.keys(explainRequest.answer.schema.properties).sort());
  });

  it('keep empty texts and zeros of fields that are always there', () => {
    const rule = {
      route: named,
      rule: '',
      match: 'any',
      action: 'forward',
      backends: [{ weight: 0, total: 0, to: '' }],
    };
    const tables = [{ port: 80, group: 'producer', kind: 'HTTPRoute', rules: [rule], total: 0 }];
    const answer = { mesh: 'default', zone: 'east', service: named, tables, total: 1 };
    const message = ListRoutesResponse.encode({ answerJson: '', answer: ServiceRoutes.fromJSON(answer) }).finish();
    expect(readAnswer(listRoutesOfService, ListRoutesResponse.decode(message))).toEqual(answer);
  });

  it('are read from the text of a server of before', () => {
    expect(readAnswer(explainRequest, { answer: undefined, answerJson: JSON.stringify(WHOLE) })).toEqual(WHOLE);
    expect(() => readAnswer(explainRequest, { answer: undefined, answerJson: '[]' })).toThrow(
      'the answer is not of type object',
    );
  });
});
