import type { KindDescription, Root } from '@causeway/api';
import { isWritable } from '@causeway/admission';
import {
  compareText,
  isJsonArray,
  isJsonObject,
  type ControlPlane,
  type JsonObject,
  type JsonValue,
  type Kind,
  type Registry,
} from '@causeway/resources';
import type { IndexReader } from '@causeway/store';

/** Facts about the program that serves the queries. */
export interface ProgramFacts {
  readonly version: string;
  /** Name of this replica. */
  readonly instanceId: string;
  /** The configuration, with secrets redacted. */
  readonly config: JsonObject;
}

/** Dependencies of ServerFacts. */
export interface ServerFactsSources {
  readonly registry: Registry;
  readonly cp: ControlPlane;
  readonly index: IndexReader;
  readonly program: ProgramFacts;
}

/** Facts about the control plane itself (docs/reference/kuma-rest.md §1.2). */
export class ServerFacts {
  constructor(private readonly sources: ServerFactsSources) {}

  /** Product, role, replica and revision. */
  server(): Root {
    const { program, cp, index } = this.sources;
    return {
      product: 'Causeway',
      version: program.version,
      mode: cp.role,
      ...(cp.role === 'zone' ? { zone: cp.zone, federated: cp.federated } : {}),
      instanceId: program.instanceId,
      clusterId: index.point?.incarnation ?? '',
      revision: index.point?.revision ?? 0,
    };
  }

  /** Every kind, by name. */
  kinds(): readonly KindDescription[] {
    const kinds = [...this.sources.registry.kinds].sort((a, b) => compareText(a.name, b.name));
    return kinds.map((kind) => this.describe(kind));
  }

  /** The configuration without secrets. */
  config(): JsonObject {
    return redacted(this.sources.program.config);
  }

  private describe(kind: Kind): KindDescription {
    const spaced = kind.name.replace(/([a-z])([A-Z])/g, '$1 $2');
    return {
      name: kind.name,
      scope: kind.scope === 'mesh' ? 'Mesh' : 'Global',
      namespaced: kind.namespaced,
      path: kind.plural,
      shortName: kind.shortName,
      singularDisplayName: spaced,
      pluralDisplayName: toPlural(spaced),
      readOnly: !isWritable(kind, this.sources.cp),
      writtenOn: kind.sync.writtenOn,
      includeInFederation: kind.sync.down !== 'nothing',
      confidential: kind.confidential,
    };
  }
}

const SECRET_NAME = /(password|passwd|secret|token|private_?key|credential)(?!_?(file|ttl|type))/i;

/**
 * Returns a configuration without secrets: values under secret names, and passwords in URLs, become `*****`. Programs
 * redact the secrets they know; this catches the others.
 */
export function redactSecrets(value: JsonValue | undefined, name = ''): JsonValue {
  if (value === undefined || value === null) return null;
  if (isJsonArray(value)) return value.map((item) => redactSecrets(item, name));
  if (isJsonObject(value)) return redacted(value);
  if (SECRET_NAME.test(name) && typeof value === 'string' && value !== '') return '*****';
  return typeof value === 'string' ? value.replace(/(\/\/[^/:@\s]*:)[^/@\s]*@/g, '$1*****@') : value;
}

function redacted(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redactSecrets(item, key)]));
}

/** Returns the plural that Kuma uses for its lists: Meshes, Policies, Routes. */
function toPlural(word: string): string {
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return /(s|sh|ch|x)$/.test(word) ? `${word}es` : `${word}s`;
}
