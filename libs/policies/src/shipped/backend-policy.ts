import { compileSchema } from '@causeway/resources';
import type { TSchema } from 'typebox';
import type { DeclaredTarget } from '../model/definition';
import { mergeStrategies, type Level } from '../model/levels';
import type { ShippedPolicy } from './shipped-policy';

const HIERARCHY: readonly Level[] = ['Mesh', 'Namespace', 'Backend', 'BackendPort'];

type OfBackends<S extends TSchema> = Pick<
  ShippedPolicy<S>,
  'kind' | 'plural' | 'shortName' | 'description' | 'schema' | 'unsupported'
> & {
  /** Proxies that enforce it: those of the callers, or those before the instances. */
  readonly at: 'client' | 'server';
  /** Effect of the policy, as the beginning of a sentence: "limits connections and requests". */
  readonly does: string;
  /** Server-side policies only: whether the zone egress enforces it for services outside the mesh. */
  readonly isAtEgress?: boolean;
};

/** Defines a policy on backends: its targets are always the same, from the mesh down to one port of a service. */
export function backendPolicy<S extends TSchema>({
  does,
  at,
  isAtEgress = false,
  ...own
}: OfBackends<S>): ShippedPolicy<S> {
  const { fits } = compileSchema(own.schema);
  const where = at === 'client' ? 'each proxy that calls it' : 'the proxy of each instance';
  return {
    ...own,
    at,
    hierarchy: HIERARCHY,
    declaredTargets: targets({ does, at, isAtEgress }),
    effectiveTarget: { level: 'BackendPort', semantics: `${does} to one port of a service, in ${where}` },
    mergeStrategies,
    crossNamespace: 'Forbidden',
    read: (spec) => (fits(spec) ? spec : undefined),
  };
}

function targets({
  does,
  at,
  isAtEgress,
}: Required<Pick<OfBackends<TSchema>, 'does' | 'at' | 'isAtEgress'>>): readonly DeclaredTarget[] {
  const service = (kind: string): DeclaredTarget => ({
    kind,
    facet: 'backend',
    semantics: `${does} to the service, whichever route leads there; with sectionName to that port`,
  });
  return [
    { kind: 'Mesh', semantics: `${does} to each service of the mesh` },
    { kind: 'Namespace', semantics: `${does} to each service of the namespace` },
    service('MeshService'),
    // Services of several zones, or without a proxy, have no server side.
    ...(at === 'client' ? [service('MeshMultiZoneService'), service('MeshExternalService')] : []),
    ...(isAtEgress
      ? [{ ...service('MeshExternalService'), semantics: `${does} to the service, by the zone egress` }]
      : []),
  ];
}
