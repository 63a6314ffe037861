import {
  isJsonArray,
  isJsonObject,
  selectsLabels,
  type JsonObject,
  type Labels,
  type LabelSelector,
} from '@causeway/resources';
import type { SourceDocument } from '../../documents';
import { listAt, objectAt, textAt } from '../../render';
import { leftOutFields, withoutFields } from './left-out-fields';
import { selectorAt, textsIn } from './selectors';
import { fillVariables } from './variables';

/** Result for a part of a file. Parts that are `changed` or `left out` do not prevent the import, `refused` parts do. */
type Outcome = 'changed' | 'left out' | 'refused' | 'skipped';

/** A remark about a document. */
export interface ImportNote {
  readonly document: SourceDocument;
  readonly outcome: Outcome;
  /** `VirtualNode shop/front`. */
  readonly who: string;
  /** Empty: the whole document. */
  readonly field: string;
  readonly reason: string;
}

/** Instances declared in a Kubernetes file: each needs a Dataplane, which an agent registers. */
interface Instances {
  readonly workload: string;
  readonly namespace: string;
  readonly labels: Labels;
  readonly ports: readonly number[];
  /** The VirtualNodes in the files that select them. */
  readonly nodes: readonly string[];
}

/** The result of translating App Mesh files. */
export interface ImportedAppMesh {
  /** In the order in which they are applied. */
  readonly documents: readonly SourceDocument[];
  readonly notes: readonly ImportNote[];
  readonly instances: readonly Instances[];
}

const GROUP = 'appmesh.k8s.aws';
/** The order of writes: a member needs its Mesh and the labels of its Namespace. */
const WRITTEN = ['Mesh', 'Namespace', 'VirtualNode', 'VirtualRouter', 'VirtualService'];
const WORKLOADS = ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Pod'];

/** Kinds of the group that have no equivalent here. */
const REFUSED: Readonly<Record<string, string>> = {
  VirtualGateway: 'traffic from outside needs a Gateway, which Causeway stores and does not run',
  GatewayRoute: 'routes of a VirtualGateway: write an HTTPRoute with a Gateway as its parent',
};

/** Reasons for skipping Kubernetes documents, if they need an explanation. */
const SKIPPED: Readonly<Record<string, string>> = {
  Service: 'names come from VirtualServices and HostnameGenerators',
};

/**
 * Translates documents of App Mesh (v1beta2, as its controller for Kubernetes accepts them) into our resources, and reports for each the parts that
 * were changed, left out or refused. A part that is left out does not affect requests, or its remark names the equivalent here; the control plane
 * refuses a document with any other unsupported part as a whole. `${NAME}` in texts is filled in from `variables`. Linear in the documents, except
 * for the instances, which are compared with the nodes of their namespace.
 */
export function importAppMesh(
  given: readonly SourceDocument[],
  variables: ReadonlyMap<string, string> = new Map(),
): ImportedAppMesh {
  const notes: ImportNote[] = [];
  const all = given.flatMap(splitItems).map((one) => readManifest(one, variables));
  const groups = new Map(all.filter(isBackendGroup).map((one) => [one.who, one]));
  const kept = all.flatMap((one): Manifest[] => {
    const refusal = findRefusal(one);
    if (refusal) notes.push(toNote(one, refusal.outcome, refusal.reason));
    return refusal || isBackendGroup(one) ? [] : [translate(one, groups, (note) => notes.push(note))];
  });
  const documents = kept
    .sort((a, b) => WRITTEN.indexOf(a.kind) - WRITTEN.indexOf(b.kind))
    .map(({ document }) => document);
  const nodes = kept.filter(({ kind }) => kind === 'VirtualNode');
  return { documents, notes, instances: all.flatMap((one) => listInstances(one, nodes)) };
}

/** A document with its parsed fields. */
interface Manifest {
  readonly document: SourceDocument;
  /** The value in the file, unchanged. */
  readonly given: unknown;
  readonly value: JsonObject;
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly name: string;
  readonly who: string;
  /** Variables without a value. */
  readonly unset: readonly string[];
}

function readManifest(document: SourceDocument, variables: ReadonlyMap<string, string>): Manifest {
  const text = isJsonObject(document.value) ? document.value : {};
  const filled = fillVariables(text, variables, () => undefined);
  const value = isJsonObject(filled) ? filled : {};
  const [version = '', group = ''] = textAt(value, 'apiVersion').split('/').reverse();
  const [kind, name] = [textAt(value, 'kind'), textAt(value, 'metadata', 'name')];
  const unset = new Set<string>();
  // Parts that are left out need no values of variables.
  fillVariables(withoutFields(text, leftOutFields(kind)).value, variables, (name) => unset.add(name));
  const isPlaceless = kind === 'Mesh' || kind === 'Namespace';
  const namespace = isPlaceless ? '' : textAt(value, 'metadata', 'namespace') || 'default';
  const named = `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`.trim();
  const who = kind === '' ? `${document.file}:${document.placeOf('')}` : named;
  return {
    document: { ...document, value },
    given: document.value,
    value,
    kind,
    group,
    version,
    namespace,
    name,
    who,
    unset: [...unset],
  };
}

/** Returns the items of a List, as `kubectl get -o yaml` prints it; other documents unchanged. */
function splitItems(document: SourceDocument): readonly SourceDocument[] {
  const { value } = document;
  if (!isJsonObject(value) || value['kind'] !== 'List' || !isJsonArray(value['items'])) return [document];
  return value['items'].map((item, i) => {
    const inside = (field: string): string => (field === '' ? `items[${i}]` : `items[${i}].${field}`);
    return {
      ...document,
      line: document.lineOf(inside('')),
      value: item,
      lineOf: (field) => document.lineOf(inside(field)),
      placeOf: (field) => document.placeOf(inside(field)),
    };
  });
}

const isBackendGroup = ({ kind, group }: Manifest): boolean => group === GROUP && kind === 'BackendGroup';

function isWritten({ kind, group }: Manifest): boolean {
  return kind === 'Namespace' ? group === '' : group === GROUP && WRITTEN.includes(kind);
}

/** Returns why a document is not applied; undefined if it is. */
function findRefusal(
  manifest: Manifest,
): { readonly outcome: 'refused' | 'skipped'; readonly reason: string } | undefined {
  const { given } = manifest;
  if (!isJsonObject(given))
    return { outcome: 'refused', reason: 'a document must be an object with apiVersion and kind' };
  if (manifest.kind === '') return { outcome: 'skipped', reason: 'a document without kind' };
  const { kind, group, version, unset } = manifest;
  if (group !== GROUP && kind !== 'Namespace') {
    return { outcome: 'skipped', reason: SKIPPED[kind] ?? 'no part of App Mesh' };
  }
  const refused = (reason: string) => ({ outcome: 'refused', reason }) as const;
  if (group === GROUP && version === 'v1beta1') return refused('its fields are those of v1beta1; write it as v1beta2');
  if (unset.length > 0) {
    const names = unset.map((name) => `--set ${name}=VALUE`);
    return refused(`nothing says what \${${unset.join('}, ${')}} is: give ${names.join(' ')}`);
  }
  if (isBackendGroup(manifest) || (isWritten(manifest) && !isBareNode(manifest))) return undefined;
  if (kind === 'VirtualNode') {
    return refused(
      'without a podSelector no instances are found; write a MeshExternalService for a host outside the mesh',
    );
  }
  return refused(REFUSED[kind] ?? `no kind of ${GROUP} that is known here`);
}

/** Reports whether only DNS or Cloud Map knows the endpoints of a node. */
function isBareNode({ kind, value }: Manifest): boolean {
  const spec = objectAt(value, 'spec');
  return (
    kind === 'VirtualNode' && 'serviceDiscovery' in spec && !('podSelector' in spec) && !('dataplaneSelector' in spec)
  );
}

function translate(
  manifest: Manifest,
  groups: ReadonlyMap<string, Manifest>,
  note: (note: ImportNote) => void,
): Manifest {
  const { value, reports } = withoutFields(manifest.value, leftOutFields(manifest.kind));
  for (const { field, outcome, reason } of reports) note({ ...toNote(manifest, outcome, reason), field });
  if (manifest.kind !== 'VirtualNode') return withValue(manifest, value);
  return withValue(manifest, withBackendGroups({ ...manifest, value }, groups, note));
}

/** Replaces the backend groups of a node by their backends. */
function withBackendGroups(
  node: Manifest,
  groups: ReadonlyMap<string, Manifest>,
  note: (note: ImportNote) => void,
): JsonObject {
  const { backendGroups, ...spec } = objectAt(node.value, 'spec');
  if (backendGroups === undefined) return node.value;
  const backends = [...listAt(spec, 'backends')];
  const known = new Set(
    backends.map((backend) => serviceOf(objectAt(backend, 'virtualService', 'virtualServiceRef'), node)),
  );
  for (const ref of listAt({ backendGroups }, 'backendGroups')) {
    const name = `BackendGroup ${textAt(ref, 'namespace') || node.namespace}/${textAt(ref, 'name')}`;
    const group = groups.get(name);
    const services = group ? listAt(objectAt(group.value, 'spec'), 'virtualservices') : [];
    const added = services.filter((service) => !known.has(serviceOf(service, group ?? node)));
    for (const service of added) {
      const at = serviceOf(service, group ?? node);
      const [namespace = '', serviceName = ''] = at.split('/');
      known.add(at);
      backends.push({ virtualService: { virtualServiceRef: { namespace, name: serviceName } } });
    }
    const reason = group ? `the services of ${name} are written out as backends` : `${name} is in none of the files`;
    note({ ...toNote(node, group ? 'changed' : 'left out', reason), field: 'spec.backendGroups' });
  }
  return { ...node.value, spec: { ...spec, backends } };
}

const serviceOf = (ref: JsonObject, { namespace }: Manifest): string =>
  `${textAt(ref, 'namespace') || namespace}/${textAt(ref, 'name')}`;

/** Returns the instances of a Kubernetes workload that nodes select. */
function listInstances({ kind, group, value, namespace, who }: Manifest, nodes: readonly Manifest[]): Instances[] {
  if (group === GROUP || !WORKLOADS.includes(kind)) return [];
  const template = kind === 'Pod' ? value : objectAt(value, 'spec', 'template');
  const labels = textsIn(objectAt(template, 'metadata', 'labels'));
  const selecting = nodes.filter((node) => {
    const selector = selectorOf(objectAt(node.value, 'spec'));
    return node.namespace === namespace && selector !== undefined && selectsLabels(selector, labels);
  });
  if (selecting.length === 0) return [];
  const containers = listAt(objectAt(template, 'spec'), 'containers');
  const ports = containers.flatMap((one) => listAt(one, 'ports').map((port) => Number(textAt(port, 'containerPort'))));
  return [{ workload: who, namespace, labels, ports, nodes: selecting.map((node) => node.who) }];
}

/** Returns the selector of a node, under either name. */
const selectorOf = (spec: JsonObject): LabelSelector | undefined =>
  selectorAt(spec, spec['podSelector'] === undefined ? 'dataplaneSelector' : 'podSelector');

function toNote({ document, who }: Manifest, outcome: Outcome, reason: string): ImportNote {
  return { document, outcome, who, field: '', reason };
}

function withValue(manifest: Manifest, value: JsonObject): Manifest {
  return { ...manifest, value, document: { ...manifest.document, value } };
}
