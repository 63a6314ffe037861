/** What tests and benchmarks outside of this lib need of its inside. Nothing that ships imports it. */
export type { ApplyOptions, DeleteOptions } from '../src/api-client';
