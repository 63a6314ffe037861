import { computedLabels, globalIdentity, type Identity, type Registry, type Resource } from '@causeway/resources';
import type { Expectation, PutChange } from '@causeway/store';

const KIND = 'GlobalSecret';

/** Identity of a GlobalSecret of the global. */
export function globalSecretId(name: string): Identity {
  return globalIdentity(KIND, name);
}

/** Whether it is a GlobalSecret of the global itself; a copy from another control plane is not trusted. */
export function isOwnGlobalSecret({ kind, zone }: Identity): boolean {
  return kind === KIND && zone === '';
}

/** Content of a secret, base64 decoded. */
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
