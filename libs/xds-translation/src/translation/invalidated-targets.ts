import type { EnvoyView } from '../views/envoy-view';
import type { RecordedReads } from '../reads/recorded-reads';
import type { BuildTarget, ResourceTarget, BuildTargets } from '../views/build-targets';

interface OfType {
  readonly type: string;
  readonly group: string | undefined;
  readonly names: string[];
}

/** Targets whose inputs have changed and that are announced together. */
export class InvalidatedTargets {
  /** By type and group. */
  readonly resources = new Map<string, OfType>();
  readonly destinations: string[] = [];
  /** Views whose lists may have changed names, and views in which any resource may have changed. */
  readonly relisted: EnvoyView[] = [];
  readonly views: EnvoyView[] = [];
  /** Resources that were built from inputs that are gone. */
  readonly gone: ResourceTarget[] = [];
  size = 0;

  add(made: BuildTarget, isGone: boolean): void {
    this.size += 1;
    if (made.of === 'lists') this.relisted.push(made.view);
    else if (made.of === 'view') this.views.push(made.view);
    else if (made.of === 'destination in lists') this.destinations.push(made.name);
    else {
      if (isGone && made.group === undefined) this.gone.push(made);
      const { type, name, group } = made;
      const key = `${type} ${group ?? ''}`;
      const ofType = this.resources.get(key) ?? { type, group, names: [] };
      this.resources.set(key, ofType);
      ofType.names.push(name);
    }
  }
}

/** Yields between steps while it takes the targets whose inputs have changed and forgets their builds. */
export function* takeInvalidated(
  reads: RecordedReads<BuildTarget>,
  made: BuildTargets,
  mostInStep: number,
): Generator<InvalidatedTargets> {
  let found = new InvalidatedTargets();
  for (const { of, isGone } of reads.takeStale()) {
    found.add(of, isGone);
    if (of.of === 'resource') made.forget(of);
    if (found.size < mostInStep) continue;
    yield found;
    found = new InvalidatedTargets();
  }
  if (found.size > 0) yield found;
}
