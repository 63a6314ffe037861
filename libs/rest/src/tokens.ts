/** What Nest injects by symbol: values and interfaces that have no class of their own in this lib. */
export const REGISTRY = Symbol('Registry');
export const QUERIES = Symbol('Queries');
export const ADMISSION = Symbol('Admission');
export const EVENT_ENCODER = Symbol('EventEncoder');
export const OPENAPI = Symbol('OpenApiDocument');
