import { formatKri } from '@causeway/naming';
import { Label, statusAsRead, type JsonObject, type Kind, type KindAlias, type Resource } from '@causeway/resources';

/** Format of a rendered document. */
export interface DocumentFormat {
  /** Default: `universal`. */
  readonly form?: 'universal' | 'k8s';
  /** The alias under which the kind was requested; the Kubernetes form uses it instead of the kind's own name. */
  readonly alias?: KindAlias | undefined;
  /** Leaves the spec of confidential kinds empty. Lists must set it. */
  readonly redacted?: boolean;
}

/** Renders a resource as a document for users (docs/design.md §1). The result can be edited and PUT back. */
export function toDocument(kind: Kind, resource: Resource, format: DocumentFormat = {}): JsonObject {
  const spec = format.redacted === true && kind.confidential ? {} : resource.spec;
  const status = statusAsRead(kind, resource);
  const document =
    format.form === 'k8s'
      ? kubernetesForm(kind, resource, format.alias ?? { name: kind.bareName, apiVersion: kind.apiVersion })
      : universalForm(kind, resource);
  return { ...document, spec, ...(status ? { status } : {}) };
}

function universalForm(kind: Kind, resource: Resource): JsonObject {
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
    kri: formatKri({ shortName: kind.shortName, mesh: id.mesh, name: id.name, labels: resource.labels }),
    labels: resource.labels,
  };
}

function kubernetesForm(kind: Kind, resource: Resource, called: Pick<KindAlias, 'name' | 'apiVersion'>): JsonObject {
  const { id } = resource;
  return {
    apiVersion: called.apiVersion,
    kind: called.name,
    metadata: {
      name: id.name,
      ...(kind.namespaced ? { namespace: id.namespace } : {}),
      labels: { ...resource.labels, ...(kind.scope === 'mesh' ? { [Label.mesh]: id.mesh } : {}) },
      uid: resource.uid,
      generation: resource.generation,
      creationTimestamp: new Date(resource.createdAt).toISOString(),
    },
  };
}
