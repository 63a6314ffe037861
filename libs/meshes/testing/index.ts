/**
 * Test support of this lib: internals that tests and benchmarks of other libs import. Nothing that ships imports it.
 */
export type { MeshesOptions } from '../src/meshes';
