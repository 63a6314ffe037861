import {
  Conflict,
  describeIdentity,
  identityKey,
  isJsonObject,
  type Identity,
  type JsonObject,
  type Kind,
} from '@causeway/resources';
import type { IndexReader } from '@causeway/store';

interface Named {
  readonly version: unknown;
  /** By mesh and name: who has it. */
  readonly holders: ReadonlyMap<string, Identity>;
}

/**
 * The names at App Mesh, each of which one resource of a mesh and kind has (T003-08). What stands here is refused at admission. Two that
 * race, and two that meet by sync, are both stored: there the older one keeps the name.
 */
export class AwsNames {
  private readonly named = new Map<string, Named>();

  constructor(private readonly index: Pick<IndexReader, 'ofKind' | 'versionOf'>) {}

  /** Another resource that has this name now; made anew, linear in the resources of the kind, once they have changed. */
  holderOf(kind: Kind, id: Identity, awsName: string): Identity | undefined {
    const holder = this.tableOf(kind).get(keyOf(id.mesh, awsName));
    return holder && identityKey(holder) !== identityKey(id) ? holder : undefined;
  }

  private tableOf(kind: Kind): Named['holders'] {
    const version = this.index.versionOf(kind.name);
    const known = this.named.get(kind.name);
    if (known?.version === version) return known.holders;
    const holders = new Map<string, Identity>();
    for (const { id, spec } of this.index.ofKind(kind.name)) {
      const awsName = awsNameOf(kind, id, spec);
      if (awsName !== undefined) holders.set(keyOf(id.mesh, awsName), id);
    }
    this.named.set(kind.name, { version, holders });
    return holders;
  }
}

/** The names that one request takes: those of the index, and those of its documents before. */
export class TakenNames {
  private readonly taken = new Map<string, Identity>();

  constructor(private readonly names: AwsNames) {}

  /** Takes the name of a resource that is to be made. Throws Conflict, which names the holder. */
  take(kind: Kind, id: Identity, spec: JsonObject): void {
    const awsName = kind.meshFrom === 'namespace' ? awsNameOf(kind, id, spec) : undefined;
    if (awsName === undefined) return;
    const key = `${kind.name}/${keyOf(id.mesh, awsName)}`;
    const before = this.taken.get(key);
    const other = before && identityKey(before) !== identityKey(id) ? before : undefined;
    const holder = other ?? this.names.holderOf(kind, id, awsName);
    if (holder) throw new Conflict(refusal(holder, id, awsName));
    this.taken.set(key, id);
  }
}

function refusal(holder: Identity, { mesh }: Identity, awsName: string): string {
  return `awsName "${awsName}" is that of ${describeIdentity(holder)} in mesh ${mesh}; give one of them another awsName`;
}

/** The name that a resource has at App Mesh; undefined for kinds that have none. */
function awsNameOf(kind: Kind, id: Identity, spec: JsonObject): string | undefined {
  const derived = kind.derive({ ...id, spec });
  const awsName = isJsonObject(derived) ? derived['awsName'] : undefined;
  return typeof awsName === 'string' ? awsName : undefined;
}

const keyOf = (mesh: string, awsName: string): string => `${mesh}/${awsName}`;
