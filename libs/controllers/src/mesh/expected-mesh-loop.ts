import type { MeshMismatch, Meshes } from '@causeway/meshes';
import { Mesh } from '@causeway/kinds';
import { computedLabels, globalIdentity, type ControlPlane } from '@causeway/resources';
import type { Change, IndexReader, PutChange, WriteResult } from '@causeway/store';
import type { ControlLoop, LoopPlan } from '@causeway/loops';

/** Maximum number of attempts in one term to create the expected Mesh. */
const TRIES = 3;

/** Configuration of the expected Mesh. */
export interface ExpectedMeshConfig {
  readonly cp: ControlPlane;
  readonly meshes: Meshes;
  /** Called when the expected Mesh has another controller; once a term for each. */
  readonly onMismatch?: (mismatch: MeshMismatch) => void;
  /** Called when the store refused to create the expected Mesh, which is then served as if it existed. */
  readonly onRefused?: (name: string, reason: string) => void;
}

/**
 * Creates the expected Mesh if a term begins without one (docs/design.md §4 mesh, ADR 8; rows T000-15 to T000-21): with its `controllerName` and
 * nothing else, never over an existing one, and never later in the term. A federated zone creates none. Lives for one term.
 */
export class ExpectedMeshLoop implements ControlLoop {
  readonly name = 'expected-mesh';
  private index: IndexReader | undefined;
  private triesLeft: number;
  private asked = false;
  private reported: string | undefined;

  constructor(private readonly config: ExpectedMeshConfig) {
    const { cp } = config;
    this.triesLeft = cp.role === 'zone' && cp.federated ? 0 : TRIES;
  }

  /** A reset before the result arrives means that the write failed, or that its outcome is unknown. */
  reset(index: IndexReader): void {
    this.index = index;
    if (this.asked) this.failed('the write failed');
  }

  observe(): void {
    // Each plan reads the current index.
  }

  plan(): LoopPlan | undefined {
    const { index, config } = this;
    if (!index) return undefined;
    this.reportMismatch(config.meshes.mismatch());
    if (this.triesLeft === 0) return undefined;
    const creation = createExpected(config);
    if (index.get(creation.id)) {
      this.triesLeft = 0;
      return undefined;
    }
    this.asked = true;
    return { changes: [creation] };
  }

  onWritten(_changes: readonly Change[], { results: [result] }: WriteResult): void {
    if (result?.type === 'refused' && result.refusal !== 'exists') return this.failed(result.detail);
    this.asked = false;
    this.triesLeft = 0;
  }

  private failed(reason: string): void {
    this.asked = false;
    this.triesLeft -= 1;
    this.config.onRefused?.(this.config.meshes.owner.expectedName, reason);
  }

  private reportMismatch(mismatch: MeshMismatch | undefined): void {
    const controller = mismatch?.controllerName;
    if (mismatch && controller !== this.reported) this.config.onMismatch?.(mismatch);
    this.reported = controller;
  }
}

function createExpected({ cp, meshes }: ExpectedMeshConfig): PutChange {
  const { expectedName, controllerName } = meshes.owner;
  const id = globalIdentity(Mesh.name, expectedName);
  return { type: 'put', id, expect: 'absent', labels: computedLabels(Mesh, id, cp), spec: { controllerName } };
}
