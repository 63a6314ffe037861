import { Type } from 'typebox';
import { NonEmpty } from './schema-parts';

const names = { minItems: 1, maxItems: 256 } as const;

/** Kind names, or `*`. */
export const KindNames = Type.Array(NonEmpty, names);

/** Mesh names, or `*`. */
export const MeshNames = Type.Array(NonEmpty, names);

/** Namespaces, or `*`. Kinds without namespaces never match. */
export const NamespaceNames = Type.Array(NonEmpty, names);
