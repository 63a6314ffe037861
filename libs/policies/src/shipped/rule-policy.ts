import { compileSchema } from '@causeway/resources';
import type { TSchema } from 'typebox';
import type { DeclaredTarget } from '../model/definition';
import { mergeStrategies, type Level } from '../model/levels';
import type { ShippedPolicy } from './shipped-policy';

const HIERARCHY: readonly Level[] = ['Mesh', 'Namespace', 'Service', 'ServicePort', 'Route', 'Rule'];

type OfRules<S extends TSchema> = Pick<
  ShippedPolicy<S>,
  'kind' | 'plural' | 'shortName' | 'description' | 'schema' | 'unsupported'
> & {
  /** Effect of the policy on requests, as the beginning of a sentence: "limits how long requests take". */
  readonly does: string;
};

/** Defines a policy on client requests: its targets are always the same, from the mesh down to a rule of a route. */
export function rulePolicy<S extends TSchema>({ does, ...own }: OfRules<S>): ShippedPolicy<S> {
  const { fits } = compileSchema(own.schema);
  return {
    ...own,
    at: 'client',
    hierarchy: HIERARCHY,
    declaredTargets: ruleTargets(does),
    effectiveTarget: { level: 'Rule', semantics: `${does} that match the rule, where the client sends them` },
    mergeStrategies,
    crossNamespace: 'ClientSide',
    read: (spec) => (fits(spec) ? spec : undefined),
  };
}

function ruleTargets(does: string): readonly DeclaredTarget[] {
  const service = (kind: string): DeclaredTarget => ({
    kind,
    facet: 'frontend',
    semantics: `${does} that are sent to the service, by a route or without; with sectionName to that port`,
  });
  const route = (kind: string): DeclaredTarget => ({
    group: 'gateway.networking.k8s.io',
    kind,
    semantics: `${does} that a rule of the route matches; with sectionName that rule`,
  });
  return [
    { kind: 'Mesh', semantics: `${does} that are sent to services of the mesh` },
    { kind: 'Namespace', semantics: `${does} that are sent to services of the namespace, or by its own routes` },
    service('MeshService'),
    service('MeshMultiZoneService'),
    route('HTTPRoute'),
    route('GRPCRoute'),
  ];
}
