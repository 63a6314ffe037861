import { Type } from 'typebox';
import { operation } from '../operation';
import { Freshness, NamedParameter } from '../parameters';
import { component, strict, Text, TextMap } from '../schema';

/** An entry of Prometheus' http_sd: one instance and port. */
const PrometheusTarget = Type.Object(
  { targets: Type.Array(Text, { minItems: 1, maxItems: 1 }), labels: TextMap },
  component('PrometheusTarget', {
    description: "An entry of Prometheus' http_sd: one instance and port.",
    ...strict,
  }),
);

const UNCHANGED = { 304: 'The client has it: If-None-Match names its ETag.' };
const READS = [400, 403, 404];

/** Targets in the form of Prometheus' `http_sd`: those that the caller may list. */
export const discoverTargets = operation({
  id: 'discoverTargets',
  method: 'GET',
  path: '/discovery/prometheus',
  summary: "The instances of this zone in the form of Prometheus' http_sd",
  access: 'any-right',
  query: {
    mesh: NamedParameter('Only instances of this mesh.'),
    namespace: NamedParameter('Only instances of this namespace.'),
    service: NamedParameter('Only instances of MeshServices of this name; `causeway-agent`: the agents themselves.'),
    port: NamedParameter('Only the port of this name or number.'),
    ...Freshness,
  },
  answer: { description: 'The targets.', schema: Type.Array(PrometheusTarget), statuses: UNCHANGED },
  problems: READS,
});

/** Hostnames and virtual IPs in the form of /etc/hosts. */
export const discoverHosts = operation({
  id: 'discoverHosts',
  method: 'GET',
  path: '/discovery/hosts',
  summary: 'The hostnames of a mesh with their virtual IPs, in the form of /etc/hosts',
  access: 'any-right',
  query: {
    mesh: NamedParameter('The mesh; the one that the control plane expects when left out.'),
    ...Freshness,
  },
  answer: { description: 'A comment, then lines.', schema: Text, type: 'text/plain', statuses: UNCHANGED },
  problems: READS,
});
