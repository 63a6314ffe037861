import {
  Conflict,
  describeIdentity,
  identityKey,
  isJsonObject,
  type Identity,
  type JsonObject,
  type Kind,
  type Resource,
} from '@causeway/resources';
import type { IndexChange, IndexedState, IndexReader } from '@causeway/store';
import { PerIndex } from './per-index';

/**
 * App Mesh names; each must be unique among the resources of a mesh and kind (T003-08). Admission refuses a name in this index. Two
 * that race, and two that meet by sync, are both stored: there the older one keeps the name. A change costs the changed resource.
 */
class AwsNames implements IndexedState {
  /** The keys of the resources that have a name, by kind, then by mesh and name. A kind is indexed at its first query. */
  private readonly holders = new Map<Kind, Map<string, Map<string, Identity>>>();

  constructor(private readonly index: IndexReader) {}

  reload(): void {
    this.holders.clear();
  }

  apply(changes: readonly IndexChange[]): void {
    for (const { id, before, after } of changes) {
      for (const [kind, table] of this.holders) {
        if (kind.name !== id.kind) continue;
        if (before) forget(table, kind, before);
        if (after) addHolder(table, kind, after);
      }
    }
  }

  /** Returns another resource that has this name now. */
  findHolder(kind: Kind, id: Identity, awsName: string): Identity | undefined {
    const holders = this.getTable(kind).get(formatKey(id.mesh, awsName)) ?? [];
    for (const [key, holder] of holders) if (key !== identityKey(id)) return holder;
    return undefined;
  }

  private getTable(kind: Kind): Map<string, Map<string, Identity>> {
    const known = this.holders.get(kind);
    if (known) return known;
    const table = new Map<string, Map<string, Identity>>();
    for (const resource of this.index.ofKind(kind.name)) addHolder(table, kind, resource);
    this.holders.set(kind, table);
    return table;
  }
}

function addHolder(table: Map<string, Map<string, Identity>>, kind: Kind, { id, spec }: Resource): void {
  const awsName = readAwsName(kind, id, spec);
  if (awsName === undefined) return;
  const key = formatKey(id.mesh, awsName);
  const holders = table.get(key) ?? new Map<string, Identity>();
  table.set(key, holders.set(identityKey(id), id));
}

function forget(table: Map<string, Map<string, Identity>>, kind: Kind, { id, spec }: Resource): void {
  const key = formatKey(id.mesh, readAwsName(kind, id, spec) ?? '');
  const holders = table.get(key);
  holders?.delete(identityKey(id));
  if (holders?.size === 0) table.delete(key);
}

const awsNames = new PerIndex((index) => new AwsNames(index));

/** App Mesh names for one request: those of the index, and those of its earlier documents. */
export class TakenNames {
  private readonly taken = new Map<string, Identity>();

  constructor(private readonly index: IndexReader) {}

  /** Reserves the name of a new resource. Throws Conflict, which names the holder. */
  take(kind: Kind, id: Identity, spec: JsonObject): void {
    const awsName = kind.meshFrom === 'namespace' ? readAwsName(kind, id, spec) : undefined;
    if (awsName === undefined) return;
    const key = `${kind.name}/${formatKey(id.mesh, awsName)}`;
    const before = this.taken.get(key);
    const other = before && identityKey(before) !== identityKey(id) ? before : undefined;
    const holder = other ?? awsNames.of(this.index).findHolder(kind, id, awsName);
    if (holder) throw new Conflict(refusal(holder, id, awsName));
    this.taken.set(key, id);
  }
}

function refusal(holder: Identity, { mesh }: Identity, awsName: string): string {
  return `awsName "${awsName}" is that of ${describeIdentity(holder)} in mesh ${mesh}; give one of them another awsName`;
}

/** Returns the App Mesh name of a resource; undefined for kinds without such names. */
function readAwsName(kind: Kind, id: Identity, spec: JsonObject): string | undefined {
  const derived = kind.derive({ ...id, spec });
  const awsName = isJsonObject(derived) ? derived['awsName'] : undefined;
  return typeof awsName === 'string' ? awsName : undefined;
}

const formatKey = (mesh: string, awsName: string): string => `${mesh}/${awsName}`;
