import fc from 'fast-check';
import type { JsonObject } from '@causeway/resources';
import { trafficResource } from './traffic-changes';
import { shippedKinds, sketch } from './traffic-zone';

/** Specs of each shipped kind with varying values; Envoy accepts all of them. */
const specs: Readonly<Record<string, fc.Arbitrary<JsonObject>>> = {
  TimeoutPolicy: fc.record(
    { request: fc.constantFrom('1s', '2s'), backendRequest: fc.constant('1s'), idle: fc.constantFrom('5s', '9s') },
    { requiredKeys: ['request'] },
  ),
  RetryPolicy: fc.record({
    attempts: fc.integer({ min: 1, max: 3 }),
    on: fc.constantFrom(['5xx', 'reset'], ['unavailable']),
  }),
  FaultPolicy: fc.record(
    {
      delay: fc.record({ duration: fc.constant('1s'), percent: fc.nat(100) }),
      abort: fc.record({ status: fc.constantFrom(503, 429), percent: fc.nat(100) }),
    },
    { requiredKeys: ['abort'] },
  ),
  HeaderPolicy: fc.record(
    {
      request: fc.record({ set: fc.constantFrom({ 'x-a': '1' }, { 'x-a': '2', 'x-b': '1' }) }),
      response: fc.constant({ remove: { server: true } }),
    },
    { requiredKeys: ['request'] },
  ),
  CircuitBreakerPolicy: fc.record(
    {
      limits: fc.record({ connections: fc.integer({ min: 1, max: 3 }) }),
      ejection: fc.constant({ consecutiveErrors: 3, interval: '1s', time: '10s', maxPercent: 50 }),
    },
    { requiredKeys: ['limits'] },
  ),
  LoadBalancingPolicy: fc.oneof(
    fc.record({ algorithm: fc.constantFrom('RoundRobin', 'LeastRequest', 'Random') }),
    fc.record({ algorithm: fc.constantFrom('RingHash', 'Maglev'), hash: fc.constant([{ header: 'x-user' }]) }),
    fc.record({ locality: fc.record({ failover: fc.constantFrom(['east'], ['north', 'east']) }) }),
    fc.constant({ locality: { weights: { west: 2, east: 1 } } }),
  ),
  RateLimitPolicy: fc.record({
    requests: fc.record({ count: fc.integer({ min: 1, max: 3 }), per: fc.constant('1s') }),
  }),
  AccessPolicy: fc.record(
    {
      allow: fc.constantFrom({ all: {} }, { some: { from: [{ namespace: 'clients' }] } }),
      deny: fc.constant({ east: { from: [{ zone: 'east' }] } }),
    },
    { requiredKeys: ['allow'] },
  ),
  ColorPolicy: fc.record({ color: fc.constantFrom('red', 'blue') }),
};

const name = fc.constantFrom('a', 'b', 'b.c');
const service = fc.record({ kind: fc.constantFrom('MeshService', 'MeshMultiZoneService'), name });
const section = fc.constantFrom('80', 'http', '6379', '9000');
const above = fc.constantFrom<JsonObject>({ kind: 'Mesh', name: 'default' }, { kind: 'Namespace', selector: {} });
const external = fc.record({ kind: fc.constant('MeshExternalService'), name });
const placed = (target: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc.record({ target, sectionName: fc.option(section) }).map(({ target, sectionName }) => ({
    ...target,
    ...(sectionName !== null && { sectionName }),
  }));
const route = fc
  .record({
    kind: fc.constantFrom('HTTPRoute', 'GRPCRoute', 'TCPRoute'),
    name: fc.constantFrom('a', 'b'),
    sectionName: fc.option(fc.constant('rule-1')),
  })
  .map(({ sectionName, ...target }): JsonObject => ({ ...target, ...(sectionName !== null && { sectionName }) }));

/** Targets of a kind; a policy that targets another than its kind declares takes no effect, and some do. */
const ofRules = fc.oneof(above, placed(service), route);
const ofBackends = fc.oneof(above, placed(service), external);
const targets: Readonly<Record<string, fc.Arbitrary<JsonObject>>> = {
  TimeoutPolicy: ofRules,
  RetryPolicy: ofRules,
  FaultPolicy: ofRules,
  HeaderPolicy: ofRules,
  ColorPolicy: fc.oneof(ofBackends, route),
};
/** A policy of another namespace names the services of this one where its kind lets it. */
const namespace = fc.constantFrom('default', 'default', 'clients');

/** A policy of one of the shipped kinds: on a Mesh, a Namespace, a service, a port, a route or a rule. */
const shippedPolicy = fc.constantFrom(...Object.keys(specs)).chain((kind) =>
  fc
    .record({
      called: fc.constantFrom('p', 'q'),
      namespace,
      zone: fc.constantFrom('west', ''),
      creationOrder: fc.nat(3),
      target: targets[kind] ?? ofBackends,
      isForeign: fc.boolean(),
      side: fc.constantFrom('bare', 'defaults', 'overrides'),
      strategy: fc.constantFrom('atomic', 'patch'),
      spec: specs[kind] ?? fc.constant({}),
    })
    .map(({ called, target, isForeign, side, strategy, spec, ...place }) => {
      const isService = target['kind'] === 'MeshService';
      const targetRefs = [isForeign && isService ? { ...target, namespace: 'default' } : target];
      const proper = side === 'bare' ? spec : { [side]: { ...spec, strategy } };
      return sketch(kind, called, { targetRefs, ...proper }, place);
    }),
);

/** Some resources of a zone, policies and now and then the definition of a kind among them, which are written, or deleted, at once. */
export const policyOrTraffic = fc.record({
  resources: fc.array(
    fc.oneof(
      { weight: 10, arbitrary: trafficResource },
      { weight: 9, arbitrary: shippedPolicy },
      { weight: 1, arbitrary: fc.constantFrom(...shippedKinds()) },
    ),
    { minLength: 1, maxLength: 3 },
  ),
  gone: fc.boolean(),
});
