import { affectedBy, levelsOfKind, type AffectedBy, type Policy, type PolicyTable } from '@causeway/policies';
import {
  isJsonArray,
  isJsonObject,
  jsonEqual,
  type JsonObject,
  type JsonValue,
  type Resource,
} from '@causeway/resources';
import type { FollowedTable, IndexReader } from '@causeway/store';

/** Status of a resource that policies affect, in addition to the stored status. The same object while it is unchanged. */
export interface AffectedOverlay {
  /** Conditions of the resource as a whole. */
  readonly conditions: readonly JsonObject[];
  /** The status field that lists sections, and their conditions by name. */
  readonly sections?: {
    readonly field: SectionField;
    readonly byName: Readonly<Record<string, readonly JsonObject[]>>;
  };
  /** For kinds without conditions, such as Namespaces. */
  readonly annotations?: JsonObject;
}
type SectionField = 'ports' | 'rules' | 'listeners';

/** The policies of a process, for the overlay. */
export interface AffectingSource extends FollowedTable<unknown> {
  readonly table: PolicyTable;
}

export interface AffectedStatusOptions {
  readonly index: Pick<IndexReader, 'byIdentityKey' | 'subscribe'>;
  readonly policies: AffectingSource;
  /** The controller's name; its domain is the prefix of the conditions (T004-52). */
  readonly controllerName: string;
}

/** Maximum number of policies in a reason and message (T004-54). */
const MAX_NAMED = 8;

interface Known {
  readonly at: number;
  readonly overlay: AffectedOverlay | undefined;
}

/**
 * Status of affected resources, derived on read and never stored (ADR 11): `causeway.io/<Kind>Affected` of declared and
 * effective targets (T004-51 to -58). Reading a resource again costs a look-up until policies, routes or services
 * change.
 */
export class AffectedStatus {
  private version = 0;
  private readonly known = new WeakMap<Resource, Known>();

  constructor(private readonly options: AffectedStatusOptions) {}

  /** Follows the policies until the returned function is called. */
  follow(): () => void {
    const forget = (): void => void (this.version += 1);
    return this.options.policies.subscribe({ reload: forget, apply: forget });
  }

  /** Returns the overlay of a resource; undefined if no policy affects it. Equal results are the same object. */
  of(resource: Resource): AffectedOverlay | undefined {
    const { policies } = this.options;
    if (!policies.hasLoaded || levelsOfKind(resource.id.kind).length === 0) return undefined;
    const known = this.known.get(resource);
    if (known?.at === this.version) return known.overlay;
    const made = this.overlay(resource);
    const overlay = known && isSame(known.overlay, made) ? known.overlay : made;
    this.known.set(resource, { at: this.version, overlay });
    return overlay;
  }

  private overlay(resource: Resource): AffectedOverlay | undefined {
    const affected = affectedBy(this.options.policies.table, resource.id);
    if (affected.length === 0) return undefined;
    if (resource.id.kind === 'Namespace') {
      const types = affected.map(({ kind }) => [this.formatConditionType(kind), 'true'] as const);
      return { conditions: [], annotations: Object.fromEntries(types) };
    }
    const conditions: JsonObject[] = [];
    const byName: Record<string, JsonObject[]> = {};
    for (const each of affected) {
      const condition = this.condition(each, resource);
      if (each.section === undefined) conditions.push(condition);
      else (byName[sectionName(resource, each.section)] ??= []).push(condition);
    }
    if (Object.keys(byName).length === 0) return { conditions };
    return { conditions, sections: { field: sectionField(resource.id.kind), byName } };
  }

  /** A second kind of the same name uses the name of its own group. */
  private formatConditionType(kind: string): string {
    const { bareKind, group } = this.options.policies.table.kind(kind)?.definition ?? {};
    if (bareKind !== undefined && bareKind !== kind) return `${group}/${bareKind}Affected`;
    return `${this.options.controllerName.split('/')[0] ?? ''}/${kind}Affected`;
  }

  /** Returns the condition. It is never stored, so its date is that of the oldest policy. */
  private condition({ kind, policies }: AffectedBy, { generation, createdAt }: Resource): JsonObject {
    const { index } = this.options;
    const names = policies.map(({ id }: Policy) => `${id.namespace}/${id.name}`);
    const shown = [...names.slice(0, MAX_NAMED), ...(names.length > MAX_NAMED ? [`+${names.length - MAX_NAMED}`] : [])];
    const made = policies.map(({ key }) => index.byIdentityKey(key)?.createdAt ?? createdAt);
    return {
      type: this.formatConditionType(kind),
      status: 'True',
      reason: shown.join(','),
      message: `Object affected by ${kind} [${shown.join(' ')}]`,
      observedGeneration: generation,
      lastTransitionTime: new Date(made.reduce((a, b) => Math.min(a, b))).toISOString(),
    };
  }
}

/** Returns the status of affected resources, and a function that stops following; without policies nothing is shown. */
export function affectedStatus(
  index: AffectedStatusOptions['index'],
  { controllerName }: Pick<AffectedStatusOptions, 'controllerName'>,
  policies: AffectingSource | undefined,
): { readonly affected: AffectedStatus | undefined; readonly stop: () => void } {
  const affected = policies && new AffectedStatus({ index, policies, controllerName });
  return { affected, stop: affected?.follow() ?? (() => undefined) };
}

/** Returns a document with the overlay of its resource. `document` is not changed. */
export function withAffected(document: JsonObject, overlay: AffectedOverlay | undefined): JsonObject {
  if (!overlay) return document;
  const { conditions, sections, annotations } = overlay;
  if (annotations) return withAnnotations(document, annotations);
  const before = isJsonObject(document['status']) ? document['status'] : {};
  const stored = isJsonArray(before['conditions']) ? before['conditions'] : [];
  const status: JsonObject = {
    ...before,
    ...(conditions.length > 0 && { conditions: [...stored, ...conditions] }),
    ...(sections && { [sections.field]: withSections(before[sections.field], sections) }),
  };
  return { ...document, status };
}

function withAnnotations(document: JsonObject, annotations: JsonObject): JsonObject {
  const { metadata } = document;
  if (isJsonObject(metadata)) return { ...document, metadata: { ...metadata, annotations } };
  return { ...document, annotations };
}

/** Listeners are a list by name, as in the Gateway API; ports and rules are a map. */
function withSections(
  before: JsonValue | undefined,
  { field, byName }: NonNullable<AffectedOverlay['sections']>,
): JsonValue {
  const added = (of: JsonValue | undefined, name: string): JsonObject => {
    const entry = isJsonObject(of) ? of : {};
    const stored = isJsonArray(entry['conditions']) ? entry['conditions'] : [];
    return { ...entry, conditions: [...stored, ...(byName[name] ?? [])] };
  };
  if (field === 'listeners') {
    const stored = isJsonArray(before) ? before : [];
    const named = (name: string): JsonValue | undefined =>
      stored.find((each) => isJsonObject(each) && each['name'] === name);
    const others = stored.filter(
      (each) => !Object.keys(byName).some((name) => isJsonObject(each) && each['name'] === name),
    );
    return [...others, ...Object.keys(byName).map((name) => ({ ...added(named(name), name), name }))];
  }
  const stored = isJsonObject(before) ? before : {};
  const names = Object.keys(byName).map((name): [string, JsonObject] => [name, added(stored[name], name)]);
  return { ...stored, ...Object.fromEntries(names) };
}

function sectionField(kind: string): SectionField {
  if (kind === 'Gateway') return 'listeners';
  return kind.endsWith('Route') ? 'rules' : 'ports';
}

/** Returns the name of a port, if it has one. */
function sectionName({ spec, id }: Resource, section: string): string {
  const ports = id.kind === 'Gateway' || id.kind.endsWith('Route') ? undefined : spec['ports'];
  const port = isJsonArray(ports)
    ? ports.find((each) => isJsonObject(each) && each['port'] === Number(section))
    : undefined;
  const name = isJsonObject(port) ? port['name'] : undefined;
  return typeof name === 'string' && name !== '' ? name : section;
}

function isSame(a: AffectedOverlay | undefined, b: AffectedOverlay | undefined): boolean {
  if (!a || !b) return a === b;
  return jsonEqual(plain(a), plain(b));
}

const plain = ({ conditions, sections, annotations }: AffectedOverlay): JsonObject => ({
  conditions: [...conditions],
  ...(sections && { field: sections.field, sections: sections.byName }),
  ...(annotations && { annotations }),
});
