import type { Kind } from '@causeway/resources';
import { integer, object, schema, text, textMap, time, type OpenApiObject } from './schema-parts';

const owned = (part: OpenApiObject, description: string): OpenApiObject => ({ ...part, description, readOnly: true });

/** The schemas of one kind: the resource, and how lists show it where that differs. */
export function kindSchemas(kind: Kind): OpenApiObject {
  const properties = envelope(kind);
  const required = ['type', 'name', 'spec', ...(kind.scope === 'mesh' ? ['mesh'] : [])];
  const whole = object(properties, required, { description: `The kind ${kind.name}.`, additionalProperties: false });
  if (!kind.confidential) return { [kind.name]: whole };
  const listed = {
    ...properties,
    spec: { type: 'object', description: 'Left empty: values are shown one by one only.' },
  };
  return { [kind.name]: whole, [`${kind.name}Listed`]: object(listed, required, { additionalProperties: false }) };
}

/** The schema of a kind's item in a list. */
export function listedSchema(kind: Kind): OpenApiObject {
  return schema(kind.confidential ? `${kind.name}Listed` : kind.name);
}

/** What a user writes: the resource without what only the control plane writes, and with what may be left out. */
export function inputSchema(kind: Kind): OpenApiObject {
  return {
    anyOf: [{ $ref: `#/components/schemas/${kind.name}` }, schema('KubernetesForm')],
    description: 'What the control plane owns (uid, status, ...) is ignored; fields that are not known are refused.',
  };
}

/** The example document of a kind; undefined where its schema has no example. */
export function exampleDocument(kind: Kind): OpenApiObject | undefined {
  const schemaOfSpec: object = kind.spec;
  const examples: unknown = 'examples' in schemaOfSpec ? schemaOfSpec.examples : undefined;
  const spec: unknown = Array.isArray(examples) ? examples[0] : undefined;
  if (spec === undefined) return undefined;
  return { type: kind.name, ...(kind.scope === 'mesh' ? { mesh: 'default' } : {}), name: EXAMPLE_NAME, spec };
}

/** What every example resource is called. */
export const EXAMPLE_NAME = 'example';

function envelope(kind: Kind): OpenApiObject {
  return {
    type: { const: kind.name },
    ...(kind.scope === 'mesh' ? { mesh: { ...text, default: 'default' } } : {}),
    ...(kind.namespaced ? { namespace: { ...text, default: 'default' } } : {}),
    name: { ...text, description: 'A lower-case RFC 1123 name, as in the path.' },
    labels: textMap,
    spec: kind.spec,
    status: owned({ type: 'object' }, 'Written by controllers.'),
    uid: owned(text, 'Changes when the resource is deleted and created again.'),
    generation: owned(integer, 'Grows with each change of spec or labels.'),
    creationTime: owned(time, 'When it was made.'),
    modificationTime: owned(time, 'When it last changed.'),
    kri: owned(text, 'The identifier that is the same on every control plane.'),
  };
}
