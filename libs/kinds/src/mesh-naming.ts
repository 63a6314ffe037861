import { Type } from 'typebox';
import { suffixProblem } from '@causeway/appmesh';
import { defineKind, Sync } from '@causeway/resources';
import { strict } from './schema/schema-parts';

/** Maximum number of suffixes of one MeshNaming. */
export const MAX_SUFFIXES = 1_000;

const Spec = Type.Object(
  {
    /** Names at App Mesh become hostnames under these; one of a single label names the services of the namespace called so. */
    suffixes: Type.Array(Type.String({ title: 'a DNS suffix such as colors.svc.cluster.local', maxLength: 253 }), {
      maxItems: MAX_SUFFIXES,
    }),
  },
  { ...strict, examples: [{ suffixes: ['colors.svc.cluster.local'] }] },
);

/**
 * Under which suffixes the VirtualServices of a mesh have their `awsName` as hostname; those of all MeshNamings of the mesh count.
 * A kind of its own and no field of MeshParameters, so that a version which does not know it goes on with the parameters that it has.
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
