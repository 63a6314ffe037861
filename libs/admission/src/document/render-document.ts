import { kriOf } from '@causeway/naming';
import { Label, type JsonObject, type Kind, type Resource } from '@causeway/resources';

/** How a document is rendered. */
export interface DocumentFormat {
  /** Default: `universal`. */
  readonly form?: 'universal' | 'k8s';
  /** Leaves the spec of confidential kinds empty. Lists must set it. */
  readonly redacted?: boolean;
}

/** A resource as users see it (docs/design.md §1). The result can be edited and PUT back. */
export function toDocument(kind: Kind, resource: Resource, format: DocumentFormat = {}): JsonObject {
  const spec = format.redacted === true && kind.confidential ? {} : resource.spec;
  return format.form === 'k8s' ? kubernetesForm(kind, resource, spec) : universalForm(kind, resource, spec);
}

function universalForm(kind: Kind, resource: Resource, spec: JsonObject): JsonObject {
  const { id } = resource;
  return {
    type: kind.name,
    ...(kind.scope === 'mesh' ? { mesh: id.mesh } : {}),
    ...(kind.namespaced ? { namespace: id.namespace } : {}),
    name: id.name,
    uid: resource.uid,
    generation: resource.generation,
    creationTime: new Date(resource.createdAt).toISOString(),
    modificationTime: new Date(resource.modifiedAt).toISOString(),
    kri: kriOf({ shortName: kind.shortName, mesh: id.mesh, name: id.name, labels: resource.labels }),
    labels: resource.labels,
    spec,
    ...(resource.status ? { status: resource.status } : {}),
  };
}

function kubernetesForm(kind: Kind, resource: Resource, spec: JsonObject): JsonObject {
  const { id } = resource;
  return {
    apiVersion: kind.apiVersion,
    kind: kind.name,
    metadata: {
      name: id.name,
      ...(kind.namespaced ? { namespace: id.namespace } : {}),
      labels: { ...resource.labels, ...(kind.scope === 'mesh' ? { [Label.mesh]: id.mesh } : {}) },
      uid: resource.uid,
      generation: resource.generation,
      creationTimestamp: new Date(resource.createdAt).toISOString(),
    },
    spec,
    ...(resource.status ? { status: resource.status } : {}),
  };
}
