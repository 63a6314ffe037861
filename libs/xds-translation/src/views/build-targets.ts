import { Reader, type Recording } from '../reads/recorded-reads';
import type { EnvoyView } from './envoy-view';

/** A resource by type and name: shared by all clients that request it, or with `group` one that only the proxies of this Dataplane have. */
export interface ResourceTarget {
  readonly of: 'resource';
  readonly type: string;
  readonly name: string;
  readonly group?: string;
}

/**
 * A build from the traffic tables: a resource, the part of any resource that depends on the Dataplane of a view, the names of a destination in a
 * list, or the view's own names in a list.
 */
export type BuildTarget =
  | ResourceTarget
  | { readonly of: 'view'; readonly view: EnvoyView }
  | { readonly of: 'destination in lists'; readonly name: string }
  | { readonly of: 'lists'; readonly view: EnvoyView };

/** The resources that were built, as readers of their inputs. */
export class BuildTargets {
  private readonly shared: ReadersByType = new Map();
  /** By group. */
  private readonly alone = new Map<string, ReadersByType>();
  /** Shared resources that do not exist: they are recorded as long as a client requests them by name. */
  private readonly absent = new Map<string, Set<string>>();
  private readonly views = new WeakMap<EnvoyView, Reader<BuildTarget>>();

  /** Returns the readers of a resource's inputs for a view; `group`: that of the view's proxies. */
  recording(
    view: EnvoyView,
    { type, name, group }: { readonly type: string; readonly name: string; readonly group: string | undefined },
  ): Recording<BuildTarget> {
    const shared = (): Reader<BuildTarget> => readerIn(this.shared, { of: 'resource', type, name });
    if (group === undefined) return { shared, own: () => this.getReader(view) };
    return {
      shared,
      own: () => this.getReader(view),
      alone: () => {
        const known = this.alone.get(group) ?? new Map<string, Map<string, Reader<BuildTarget>>>();
        this.alone.set(group, known);
        return readerIn(known, { of: 'resource', type, name, group });
      },
    };
  }

  /** Forgets a target whose inputs have changed: the next build creates a new reader. */
  forget({ type, name, group }: ResourceTarget): void {
    const known = group === undefined ? this.shared : this.alone.get(group);
    const ofType = known?.get(type);
    ofType?.delete(name);
    if (group === undefined) this.absent.get(type)?.delete(name);
    if (ofType?.size === 0) known?.delete(type);
    if (group !== undefined && known?.size === 0) this.alone.delete(group);
  }

  /** Records that there is no resource of this name. */
  noteAbsent(type: string, name: string): void {
    const absent = this.absent.get(type) ?? new Set<string>();
    this.absent.set(type, absent.add(name));
  }

  /**
   * Applies that no client requests this name any more. Returns the reader of a resource that does not exist, because then nobody holds it either.
   */
  release(type: string, name: string): Reader<BuildTarget> | undefined {
    if (this.absent.get(type)?.delete(name) !== true) return undefined;
    const ofType = this.shared.get(type);
    const reader = ofType?.get(name);
    ofType?.delete(name);
    return reader;
  }

  private getReader(view: EnvoyView): Reader<BuildTarget> {
    const reader = this.views.get(view) ?? new Reader<BuildTarget>({ of: 'view', view });
    this.views.set(view, reader);
    return reader;
  }
}

/** By type and name. */
type ReadersByType = Map<string, Map<string, Reader<BuildTarget>>>;

function readerIn(known: ReadersByType, resource: ResourceTarget): Reader<BuildTarget> {
  const ofType = known.get(resource.type) ?? new Map<string, Reader<BuildTarget>>();
  known.set(resource.type, ofType);
  const reader = ofType.get(resource.name) ?? new Reader<BuildTarget>(resource);
  ofType.set(resource.name, reader);
  return reader;
}
