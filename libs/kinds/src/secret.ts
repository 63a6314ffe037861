import { defineKind, Sync } from '@causeway/resources';
import { base64Problem, secretBounds, SecretSpec } from './schema/secret-spec';

/**
 * A confidential value of one mesh, base64 (docs/reference/kuma-rest.md §3.6). `usedBy` names the resources that may use it; no other resource gets
 * it, even if the same user wrote that (docs/guides/keys.md).
 */
export const Secret = defineKind({
  name: 'Secret',
  plural: 'secrets',
  shortName: 'sec',
  // Kuma on Kubernetes keeps them as Secrets of the core group.
  otherGroups: [''],
  scope: 'mesh',
  sync: Sync.secrets,
  writer: 'admin',
  confidential: true,
  bounds: secretBounds,
  spec: SecretSpec,
  validate: base64Problem,
});
