import { Type } from 'typebox';
import { NonEmpty } from './schema-parts';

const names = { minItems: 1, maxItems: 256 } as const;

/** Kinds, as documents name them, or `*`. */
export const KindNames = Type.Array(NonEmpty, names);

/** Meshes. */
export const MeshNames = Type.Array(NonEmpty, names);

/** Namespaces. A kind without namespaces is not among them. */
export const NamespaceNames = Type.Array(NonEmpty, names);
