import { effectiveLabel, type Resource } from '@causeway/resources';

type ByKey = ReadonlyMap<string, Resource>;

/** Resources of one kind by label. A label is indexed at its first query, so unused labels cost nothing. */
export class LabelIndex {
  private readonly byLabel = new Map<string, Map<string, Map<string, Resource>>>();

  /** Returns the resources whose label has the value; `all` are those of the kind, for indexing a label at its first query. */
  with(label: string, value: string, all: ByKey): Iterable<Resource> {
    let values = this.byLabel.get(label);
    if (!values) {
      values = new Map();
      this.byLabel.set(label, values);
      for (const [key, resource] of all) add(values, effectiveLabel(resource, label), key, resource);
    }
    return values.get(value)?.values() ?? [];
  }

  /** Updates the index for a resource that was created, changed or deleted. */
  move(key: string, before: Resource | undefined, after: Resource | undefined): void {
    for (const [label, values] of this.byLabel) {
      const [old, now] = [before && effectiveLabel(before, label), after && effectiveLabel(after, label)];
      if (old !== undefined && old !== now) remove(values, old, key);
      if (after) add(values, now, key, after);
    }
  }
}

function add(
  values: Map<string, Map<string, Resource>>,
  value: string | undefined,
  key: string,
  resource: Resource,
): void {
  if (value === undefined) return;
  const having = values.get(value);
  if (having) having.set(key, resource);
  else values.set(value, new Map([[key, resource]]));
}

function remove(values: Map<string, Map<string, Resource>>, value: string, key: string): void {
  const having = values.get(value);
  having?.delete(key);
  if (having?.size === 0) values.delete(value);
}
