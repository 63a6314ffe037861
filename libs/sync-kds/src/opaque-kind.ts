import { Type } from 'typebox';
import { defineKind, type Kind } from '@causeway/resources';

/** A kind of which nothing is known but its name and its way: any spec will do. */
export function opaqueKind(
  kind: Pick<Kind, 'name' | 'plural' | 'shortName' | 'scope' | 'sync'> & Partial<Pick<Kind, 'namespaced'>>,
): Kind {
  return defineKind({ ...kind, spec: Type.Record(Type.String(), Type.Unknown()) });
}
