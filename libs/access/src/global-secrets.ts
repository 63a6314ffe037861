import {
  computedLabels,
  globalIdentity,
  ownZone,
  type ControlPlane,
  type Identity,
  type Registry,
  type Resource,
} from '@causeway/resources';
import type { Expectation, PutChange } from '@causeway/store';

const KIND = 'GlobalSecret';

/** Identity of a GlobalSecret of the global, or of a zone. */
export function globalSecretId(name: string, zone = ''): Identity {
  return { ...globalIdentity(KIND, name), zone };
}

/** Whether it is a GlobalSecret made on this control plane itself; a copy from another one is not trusted. */
export function isOwnGlobalSecret({ kind, zone }: Identity, own = ''): boolean {
  return kind === KIND && zone === own;
}

/** Content of a secret, base64 decoded. */
export function secretText({ spec }: Resource): string {
  return Buffer.from(typeof spec['data'] === 'string' ? spec['data'] : '', 'base64').toString('utf8');
}

/** A GlobalSecret to write. */
export interface SecretWrite {
  readonly name: string;
  readonly text: string;
  readonly expect: Expectation;
}

/** The change that stores a GlobalSecret of a control plane. */
export function putSecret(
  registry: Registry,
  { name, text, expect }: SecretWrite,
  cp: ControlPlane = { role: 'global' },
): PutChange {
  const id = globalSecretId(name, ownZone(cp));
  const kind = registry.kind(KIND);
  const labels = kind ? computedLabels(kind, id, cp) : {};
  return { type: 'put', id, expect, labels, spec: { data: Buffer.from(text, 'utf8').toString('base64') } };
}
