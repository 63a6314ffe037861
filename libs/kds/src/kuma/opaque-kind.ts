import { Type } from 'typebox';
import { defineKind, type Kind } from '@causeway/resources';

/** A policy of Kuma may be large, and nothing of it is read here. */
const BYTES = 1024 * 1024;

/** A kind of which nothing is known but its name and its way: any spec will do, within its bytes. */
export function opaqueKind(
  kind: Pick<Kind, 'name' | 'plural' | 'shortName' | 'scope' | 'sync'> & Partial<Pick<Kind, 'namespaced'>>,
): Kind {
  return defineKind({
    ...kind,
    bounds: { bytes: BYTES },
    spec: Type.Record(Type.String(), Type.Unknown(), {
      maxProperties: 1_024,
      propertyNames: { maxLength: 1_024, pattern: '^.*$' },
    }),
  });
}
