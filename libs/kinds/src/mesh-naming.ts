import { Type } from 'typebox';
import { suffixProblem } from '@causeway/appmesh';
import { defineKind, Sync } from '@causeway/resources';
import { strict } from './schema/schema-parts';

/** Maximum number of suffixes of one MeshNaming. */
export const MAX_SUFFIXES = 1_000;

const Spec = Type.Object(
  {
    /** Suffixes under which names at App Mesh become hostnames; a single label means the services of the namespace with that name. */
    suffixes: Type.Array(Type.String({ title: 'a DNS suffix such as colors.svc.cluster.local', maxLength: 253 }), {
      maxItems: MAX_SUFFIXES,
    }),
  },
  { ...strict, examples: [{ suffixes: ['colors.svc.cluster.local'] }] },
);

/**
 * Suffixes under which the VirtualServices of a mesh have their `awsName` as hostname; all MeshNamings of the mesh
 * count. It is not a field of MeshParameters, so that older versions ignore it and keep their parameters.
 */
export const MeshNaming = defineKind({
  name: 'MeshNaming',
  plural: 'meshnamings',
  shortName: 'mn',
  apiVersion: 'causeway.io/v1alpha1',
  scope: 'mesh',
  sync: Sync.roles,
  writer: 'operator',
  spec: Spec,
  validate: ({ suffixes }, at) =>
    suffixes.flatMap((suffix, i) => {
      const problem = suffixProblem(suffix);
      const field = at.field('suffixes').index(i);
      return problem === undefined ? [] : [field.violation(`${problem}; got "${suffix}"`, 'wrong-form')];
    }),
});
