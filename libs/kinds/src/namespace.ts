import { Type } from 'typebox';
import { checkName, defineKind, Sync } from '@causeway/resources';
import { strict } from './schema/schema-parts';

/** A namespace with labels. A namespace can be used even if it has no Namespace resource (docs/design.md §1). */
export const Namespace = defineKind({
  name: 'Namespace',
  plural: 'namespaces',
  shortName: 'ns',
  apiVersion: 'v1',
  scope: 'global',
  sync: Sync.settings,
  writer: 'operator',
  bounds: { bytes: 64 * 1024 },
  spec: Type.Object({}, { ...strict, examples: [{}] }),
  checkName: (name, at) =>
    name.length > 63 || name.includes('.')
      ? [at.violation(`must be at most 63 characters without dots, as namespaces are; got "${name}"`)]
      : checkName(name, at),
});
