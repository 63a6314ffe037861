import { compileSchema } from '@causeway/resources';
import { Type } from 'typebox';
import { mergeStrategies } from '../model/levels';
import { Optionals } from './schema-parts';
import type { ShippedPolicy } from './shipped-policy';

const Color = Type.String({ title: 'a color such as red or #ff0000', minLength: 1, maxLength: 64 });

const Spec = Optionals({ color: Color, colors: Optionals({ dark: Color, light: Color }) });

const { fits } = compileSchema(Spec);
const GATEWAY_API = 'gateway.networking.k8s.io';

/** The example of the seed: sets the color of a backend on the way from a Gateway over a route; proxies ignore it. */
export const ColorPolicy: ShippedPolicy<typeof Spec> = {
  kind: 'ColorPolicy',
  plural: 'colorpolicies',
  shortName: 'colp',
  description: 'Gives backends a color; for people and programs that read it, no proxy does anything.',
  hierarchy: ['Gateway', 'Route', 'Backend'],
  declaredTargets: [
    { kind: 'Gateway', group: GATEWAY_API, semantics: 'colors the backends of all routes of the Gateway' },
    { kind: 'Route', group: GATEWAY_API, semantics: 'colors the backends of the route' },
    { kind: 'MeshService', facet: 'backend', semantics: 'colors the service, whichever route leads there' },
  ],
  effectiveTarget: { level: 'Backend', semantics: 'the color of the service on this path' },
  mergeStrategies,
  crossNamespace: 'Forbidden',
  at: 'client',
  schema: Spec,
  read: (spec) => (fits(spec) ? spec : undefined),
  unsupported: () => [],
};
