import { defineKind, Sync } from '@causeway/resources';
import { base64Problem, GlobalSecretSpec, secretBounds } from './schema/secret-spec';

/** A confidential value of no mesh, such as a signing key, base64 (docs/reference/kuma-rest.md §3.6). */
export const GlobalSecret = defineKind({
  name: 'GlobalSecret',
  plural: 'globalsecrets',
  shortName: 'gsec',
  // Kuma on Kubernetes keeps them as Secrets of the core group.
  otherGroups: [''],
  scope: 'global',
  sync: Sync.secrets,
  writer: 'admin',
  confidential: true,
  bounds: secretBounds,
  spec: GlobalSecretSpec,
  validate: base64Problem,
});
