import { computedLabels, globalIdentity, type Identity, type Registry, type Resource } from '@causeway/resources';
import type { Expectation, PutChange } from '@causeway/store';

const KIND = 'GlobalSecret';

/** The identity of a GlobalSecret made on the global. */
export function globalSecretId(name: string): Identity {
  return globalIdentity(KIND, name);
}

/** True for the global's own GlobalSecrets; copies of other control planes prove nothing here. */
export function isOwnGlobalSecret({ kind, zone }: Identity): boolean {
  return kind === KIND && zone === '';
}

/** What a secret holds, base64 taken off. */
export function secretText({ spec }: Resource): string {
  return Buffer.from(typeof spec['data'] === 'string' ? spec['data'] : '', 'base64').toString('utf8');
}

/** The change that stores `text` in a GlobalSecret of the global. */
export function putSecret(registry: Registry, name: string, text: string, expect: Expectation): PutChange {
  const id = globalSecretId(name);
  const kind = registry.kind(KIND);
  const labels = kind ? computedLabels(kind, id, { role: 'global' }) : {};
  return { type: 'put', id, expect, labels, spec: { data: Buffer.from(text, 'utf8').toString('base64') } };
}
