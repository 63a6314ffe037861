import {
  compareText,
  namespaceLabels,
  selectsLabels,
  type Labels,
  type LabelSelector,
  type Resource,
} from '@causeway/resources';
import { isTerminating, readMemberSelector, type MeshMembership, type MeshOwner } from './membership';
import type { Meshes } from './meshes';

/**
 * The Meshes after the documents of a batch: a Mesh or the labels of a Namespace apply to the documents after it. A question costs as many selectors
 * as there are; results are cached until the next Mesh.
 */
export class PendingMeshes implements MeshMembership {
  private readonly pending = new Map<string, { readonly selector?: LabelSelector; readonly terminating: boolean }>();
  private readonly labels = new Map<string, Labels>();
  private readonly candidates = new Map<string, readonly string[]>();

  constructor(private readonly meshes: Meshes) {}

  get owner(): MeshOwner {
    return this.meshes.owner;
  }

  /** Records the resource that a document will be stored as; kinds other than Mesh and Namespace are ignored. */
  take(resource: Pick<Resource, 'id' | 'labels' | 'spec'>): void {
    const { id, labels } = resource;
    if (id.kind === 'Namespace') {
      this.labels.set(id.name, labels);
      this.candidates.delete(id.name);
    }
    if (id.kind !== 'Mesh') return;
    const selector = readMemberSelector(resource, this.owner);
    this.pending.set(id.name, { terminating: isTerminating(labels), ...(selector ? { selector } : {}) });
    this.candidates.clear();
  }

  state(name: string): { readonly terminating: boolean } | undefined {
    return this.pending.get(name) ?? this.meshes.state(name);
  }

  listCandidates(namespace: string): readonly string[] {
    const labels = this.labels.get(namespace);
    if (this.pending.size === 0 && !labels) return this.meshes.listCandidates(namespace);
    const known = this.candidates.get(namespace);
    if (known) return known;
    const seen = labels ? { ...namespaceLabels(namespace), ...labels } : this.meshes.getLabels(namespace);
    const before = labels ? this.meshes.selecting(seen) : this.meshes.listCandidates(namespace);
    const found = [...this.pending].filter(([, { selector }]) => selector && selectsLabels(selector, seen));
    const all = [...before.filter((mesh) => !this.pending.has(mesh)), ...found.map(([mesh]) => mesh)].sort(compareText);
    this.candidates.set(namespace, all);
    return all;
  }
}
