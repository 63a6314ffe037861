import type { IndexEvent, IndexReader } from '@causeway/store';
import type { AccessSource } from '../model/inbound-access';
import { TrafficModel, type DestinationChange, type ModelChange } from '../model/traffic-model';
import { DestinationTable } from './destination-table';
import { ExplicitOutbounds } from './explicit-outbounds';
import { ReachableBackends } from './reachable-backends';

/** What is derived from one load of the index: the model, and the tables of its destinations. */
export class TrafficTables {
  readonly model: TrafficModel;
  readonly table = new DestinationTable();
  readonly backends = new ReachableBackends();
  readonly explicit: ExplicitOutbounds;

  constructor(
    private readonly index: IndexReader,
    zone: string,
    access: AccessSource,
  ) {
    this.model = new TrafficModel(index, zone, access);
    this.explicit = new ExplicitOutbounds(this.backends, zone);
  }

  /** Derives everything, one service a step. Events between two steps are applied as later ones are. */
  *load(): Generator<undefined> {
    for (const changes of this.model.load()) {
      changes.forEach((change) => this.replace(change));
      yield;
    }
  }

  /** After the last step, and before anything is asked: what Dataplanes declare, as it is then. */
  finish(): void {
    for (const after of this.index.ofKind('Dataplane'))
      if (after.id.zone === this.model.zone) this.explicit.replace({ before: undefined, after });
  }

  /** Applies an event of the index that is no new load. */
  apply(event: IndexEvent): ModelChange {
    return this.took(this.model.apply(event));
  }

  /** What the model says that a change outside the index has changed. */
  took(change: ModelChange): ModelChange {
    for (const each of change.destinations) this.replace(each);
    return change;
  }

  private replace(change: DestinationChange): void {
    this.table.replace(change);
    this.backends.replace(change);
  }
}
