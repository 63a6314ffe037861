import type { Kind } from '@causeway/resources';
import { documentName, KubernetesForm, listedName, NamedMesh } from '@causeway/api';
import { integer, object, schema, text, textMap, time, type OpenApiObject } from './schema-parts';

const owned = (part: OpenApiObject, description: string): OpenApiObject => ({ ...part, description, readOnly: true });

/** Returns the schemas of one kind: the resource, and its form in lists if that differs. */
export function kindSchemas(kind: Kind): OpenApiObject {
  const properties = envelope(kind);
  const namesMesh = kind.scope === 'mesh' && kind.meshFrom === 'user';
  const required = ['type', 'name', 'spec', ...(namesMesh ? ['mesh'] : [])];
  const whole = object(properties, required, { description: `The kind ${kind.name}.`, additionalProperties: false });
  const documents = { [kind.name]: whole, [documentName(kind)]: inEitherForm(kind.name) };
  if (!kind.confidential) return documents;
  const listed = {
    ...properties,
    spec: { type: 'object', description: 'Empty in lists: values are shown for single resources only.' },
  };
  return {
    ...documents,
    [`${kind.name}Listed`]: object(listed, required, { additionalProperties: false }),
    [listedName(kind)]: inEitherForm(`${kind.name}Listed`),
  };
}

function inEitherForm(name: string): OpenApiObject {
  return {
    anyOf: [schema(name), KubernetesForm],
    description:
      'In the Universal or the Kubernetes form. In writes, what the control plane owns (uid, status, ...) is ignored, and fields that are not known are refused.',
  };
}

function envelope(kind: Kind): OpenApiObject {
  return {
    type: { const: kind.name },
    ...(kind.scope === 'mesh' ? { mesh: NamedMesh } : {}),
    ...(kind.namespaced ? { namespace: { ...text, default: 'default' } } : {}),
    name: { ...text, description: 'A lower-case RFC 1123 name, as in the path.' },
    labels: textMap,
    spec: kind.spec,
    status: owned({ type: 'object' }, 'Written by controllers; which policies affect it is derived when it is read.'),
    annotations: owned(textMap, 'For kinds without conditions: the kinds of policies that affect the resource.'),
    uid: owned(text, 'Changes when the resource is deleted and created again.'),
    generation: owned(integer, 'Grows with each change of spec or labels.'),
    creationTime: owned(time, 'When it was made.'),
    modificationTime: owned(time, 'When it last changed.'),
    kri: owned(text, 'The identifier that is the same on every control plane.'),
  };
}
