import type { Dialect } from '../src/wire/dialect';

/** For a plain Kuma peer from 2.14.6 on. */
export const KUMA_3_DIALECT: Dialect = Object.freeze({ json: false, meta: false, sources: 'typed' });

/** For a Causeway peer with all extensions. */
export const CAUSEWAY_DIALECT: Dialect = Object.freeze({ json: true, meta: true, sources: 'any' });
