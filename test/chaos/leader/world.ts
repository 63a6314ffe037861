import type { Identity, JsonObject } from '@causeway/resources';
import type { PutChange } from '@causeway/store';

/** The zone whose leader is driven out again and again. */
export const CP = { role: 'zone', zone: 'east', federated: true } as const;
/** Few addresses for many services that come and go, so that addresses are handed on all the time. */
export const RANGE = '241.0.0.0/27';
/** Cooldown of a freed address, ms. */
export const REST = 1_500;

/** A service that gets an address. */
export function serviceId(name: string): Identity {
  return { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name };
}

/** A counter that clients increment: shows lost updates. */
export function counterId(n: number): Identity {
  return { kind: 'Counter', mesh: 'default', zone: '', namespace: '', name: `counter-${n}` };
}

/** Returns the write that a leader adds to each of its writes, so that the log itself shows who wrote when (I8). */
export function traceOf(spec: JsonObject): PutChange {
  const id = { kind: 'Trace', mesh: 'default', zone: '', namespace: '', name: 'trace' };
  return { type: 'put', id, expect: 'any', labels: {}, spec };
}
