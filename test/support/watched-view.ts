import { RESOURCE_TYPES, type ResourceSource } from '@causeway/xds-server';
import type { EnvoyView } from '@causeway/xds-translation';

const LISTED = [RESOURCE_TYPES.cluster, RESOURCE_TYPES.listener];

/** The proxies of one view as a server follows them: records the announcements to them, by `type name`. */
export class WatchedView {
  readonly announced = new Set<string>();
  /** The revisions of the announcements. */
  readonly revisions: number[] = [];
  readonly close: () => void;

  /** `asked`: names that they request, by type. */
  constructor(
    private readonly source: ResourceSource<EnvoyView>,
    private readonly view: EnvoyView,
    private readonly asked: Readonly<Record<string, readonly string[]>> = {},
  ) {
    this.close = source.subscribe({
      changed: ({ type, names, group, view: only = view, revision }) => {
        if (only !== view || (group !== undefined && group !== source.findGroup?.(view))) return;
        this.announce(type, names, revision);
      },
      relisted: ({ view: only, revision }) => {
        if (only === undefined ? source.listsOwn?.(view) === true : only !== view) return;
        for (const type of LISTED) this.announce(type, source.takeRelisted?.(view, type) ?? [], revision);
      },
      allChanged: (revision, only = view) => {
        if (only === view) this.announceAll(revision);
      },
    });
    this.look();
  }

  /** Reads the lists, and the requested resources; records later announcements of these. */
  look(): void {
    for (const type of LISTED)
      for (const name of this.source.names({ id: 'watched', view: this.view }, type))
        this.source.get(this.view, type, name);
    for (const [type, names] of Object.entries(this.asked))
      for (const name of names) this.source.get(this.view, type, name);
    this.announced.clear();
    this.revisions.length = 0;
  }

  private announceAll(revision: number): void {
    for (const type of LISTED)
      this.announce(type, this.source.names({ id: 'watched', view: this.view }, type), revision);
    for (const [type, names] of Object.entries(this.asked)) this.announce(type, names, revision);
  }

  private announce(type: string, names: Iterable<string>, revision: number): void {
    for (const name of names) {
      this.announced.add(`${type} ${name}`);
      this.revisions.push(revision);
    }
  }
}
