/** What Nest hands to the endpoints, by symbol, so that nothing depends on emitted decorator metadata. */
export const READS = Symbol('ResourceReads');
export const WRITES = Symbol('ResourceWrites');
export const FACTS = Symbol('ServerFacts');
export const INSPECTIONS = Symbol('Inspections');
export const WATCHES = Symbol('Watches');
export const EVENT_ENCODER = Symbol('EventEncoder');
export const ZONE_ANSWERS = Symbol('ZoneAnswers');
export const SYNC_ANSWERS = Symbol('SyncAnswers');
export const OPENAPI = Symbol('OpenApiText');
