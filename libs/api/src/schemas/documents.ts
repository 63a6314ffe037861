import { Type } from 'typebox';
import { AnyObject, component, Text, TextMap } from '../schema';
import { isJsonObject, type JsonObject, type Kind } from '@causeway/resources';
import type { OperationBody } from '../operation';

/** Name of every example resource. */
export const EXAMPLE_NAME = 'example';

/** Returns the name of the schema of a kind in either form; a component, so that clients have one type. */
export function documentName(kind: Kind): string {
  return `${kind.name}Document`;
}

/** Returns the name of the schema of a kind's item in a list, in either form. */
export function listedName(kind: Kind): string {
  return kind.confidential ? `${kind.name}ListedDocument` : documentName(kind);
}

/** Returns a reference to a component that is made from the registry of kinds. */
export function componentRef(name: string) {
  return Type.Unsafe<JsonObject>({ $ref: `#/components/schemas/${name}` });
}

/** A resource of some kind, in either form. */
export const AnyDocument = Type.Unsafe<JsonObject>({ type: 'object' });

/** Returns the schema of a resource in a body or an answer. */
export function documentRef(kind: Kind) {
  return componentRef(documentName(kind));
}

/** Returns the example document of a kind; undefined if its schema has no example. */
function exampleDocument(kind: Kind): JsonObject | undefined {
  const schemaOfSpec: object = kind.spec;
  const examples: unknown = 'examples' in schemaOfSpec ? schemaOfSpec.examples : undefined;
  const spec: unknown = Array.isArray(examples) ? examples[0] : undefined;
  if (!isJsonObject(spec)) return undefined;
  const namesMesh = kind.scope === 'mesh' && kind.meshFrom === 'user';
  return { type: kind.name, ...(namesMesh ? { mesh: 'default' } : {}), name: EXAMPLE_NAME, spec };
}

/** Returns the body of a write of a kind. */
export function documentBody(kind: Kind): OperationBody<ReturnType<typeof documentRef>> {
  return { schema: documentRef(kind), example: exampleDocument(kind) };
}

/** A resource in the form of Kubernetes. */
export const KubernetesForm = Type.Object(
  {
    apiVersion: Text,
    kind: Text,
    metadata: Type.Object({ name: Text, namespace: Type.Optional(Text), labels: Type.Optional(TextMap) }),
    spec: Type.Optional(AnyObject),
    status: Type.Optional(AnyObject),
  },
  component('KubernetesForm'),
);
