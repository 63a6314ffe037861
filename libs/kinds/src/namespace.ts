import { Type } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { strict } from './schema-parts';

/** A namespace that an operator wants to label; namespaces need not be declared to be used (design.md §1). */
export const Namespace = defineKind({
  name: 'Namespace',
  plural: 'namespaces',
  shortName: 'ns',
  scope: 'global',
  sync: Sync.fromGlobal,
  spec: Type.Object({}, strict),
});
