import { isJsonObject, Label, type JsonObject, type Kind } from '@causeway/resources';
import { chooseColour, type Paint } from '../../colour';
import { formatNoun } from '../../refs';
import { age, listAt, objectAt, textAt } from '../../render';

/** One column of a kind's table. */
export interface Column {
  readonly title: string;
  readonly cell: (item: JsonObject) => string;
  /** Content for `-o wide`; a column that is `wide` appears only there. */
  readonly wideCell?: (item: JsonObject) => string;
  readonly onlyWide?: boolean;
}

/** Options that decide which columns a table has. */
interface TableForm {
  readonly wide: boolean;
  /** Whether the rows are of several meshes. */
  readonly allMeshes: boolean;
}

/** Characters of a text that is not a name; `-o wide` shows all. */
const MAX_TEXT = 60;

const name: Column = { title: 'NAME', cell: (item) => textAt(item, 'name') };
const mesh: Column = { title: 'MESH', cell: (item) => textAt(item, 'mesh') };
const namespace: Column = { title: 'NAMESPACE', cell: (item) => textAt(item, 'namespace') || 'default' };
const zone: Column = {
  title: 'ZONE',
  cell: (item) => textAt(item, 'labels', 'kuma.io/zone') || textAt(item, 'zone') || '(global)',
};

/** The first ones, and how many more there are. */
function shortened(texts: readonly string[], shown: number): string {
  const more = texts.length > shown ? ` +${texts.length - shown}` : '';
  return `${texts.slice(0, shown).join(',')}${more}`;
}

/** A long text without its end. */
function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text;
}

const listPorts = (item: JsonObject): string[] =>
  listAt(objectAt(item, 'spec'), 'ports').map(
    (port) => `${textAt(port, 'port')}/${textAt(port, 'appProtocol') || 'tcp'}`,
  );

/** The addresses with a hostname or a reason why there is none, those that are Available first. */
function listAddresses(item: JsonObject): readonly JsonObject[] {
  const all = listAt(objectAt(item, 'status'), 'addresses');
  return [...all.filter(isAvailable), ...all.filter((address) => !isAvailable(address))];
}

function isAvailable(address: JsonObject): boolean {
  return textAt(address, 'status') === 'Available';
}

/** `a.mesh +2 (1 NotAvailable)`: the first hostname, how many more, and how many of them all are not to be had. */
function hostnames(item: JsonObject): string {
  const addresses = listAddresses(item);
  const lost = addresses.filter((address) => !isAvailable(address)).length;
  const count = addresses.length === 1 ? 'NotAvailable' : `${lost} NotAvailable`;
  return `${shortened(addresses.map(readHostname), 1)}${lost === 0 ? '' : ` (${count})`}`;
}

function hostnamesWithReasons(item: JsonObject): string {
  return listAddresses(item)
    .map((a) => (isAvailable(a) ? readHostname(a) : `${readHostname(a)} (NotAvailable: ${textAt(a, 'reason')})`))
    .join(', ');
}

function readHostname(address: JsonObject): string {
  return textAt(address, 'hostname') || '-';
}

/** Returns why a service gets no address; empty while it is waiting for one. */
export function missingVip(item: JsonObject): string {
  const conditions = listAt(objectAt(item, 'status'), 'conditions');
  const denied = conditions.some(
    (each) => textAt(each, 'type') === 'VIPAllocated' && textAt(each, 'status') === 'False',
  );
  return denied ? '(range is full)' : '';
}

function instances(item: JsonObject): string {
  const proxies = objectAt(item, 'status', 'dataplaneProxies');
  return textAt(proxies, 'total') === '' ? '' : `${textAt(proxies, 'healthy') || '0'}/${textAt(proxies, 'total')}`;
}

const vip: Column = { title: 'VIP', cell: (item) => textAt(item, 'status', 'vip', 'ip') || missingVip(item) };
const hostname: Column = { title: 'HOSTNAMES', cell: hostnames, wideCell: hostnamesWithReasons };
const ports: Column = {
  title: 'PORTS',
  cell: (item) => shortened(listPorts(item), 2),
  wideCell: (item) => listPorts(item).join(','),
};

/** `Ready`, `NotReady` or how many inbounds of a Dataplane are ready. */
export function readiness(item: JsonObject): string {
  const inbounds = listAt(objectAt(item, 'spec', 'networking'), 'inbound').filter(
    (inbound) => textAt(inbound, 'state') !== 'Ignored',
  );
  const ready = inbounds.filter(isReady).length;
  if (ready === inbounds.length) return inbounds.length === 0 ? 'Ignored' : 'Ready';
  return ready === 0 ? 'NotReady' : `PartiallyReady (${ready}/${inbounds.length})`;
}

/**
 * Whether an inbound accepts requests: as on the control plane, only `state` decides (docs/reference/kuma-2.14.md §3).
 */
export function isReady(inbound: JsonObject): boolean {
  return (textAt(inbound, 'state') || 'Ready') === 'Ready';
}

/** Formats port, protocol and service of an inbound: `8080/http web`. */
export function inboundText(inbound: JsonObject): string {
  const protocol = textAt(inbound, 'tags', 'kuma.io/protocol') || textAt(inbound, 'protocol') || 'tcp';
  return `${textAt(inbound, 'port')}/${protocol} ${textAt(inbound, 'tags', 'kuma.io/service')}`.trimEnd();
}

const inboundsOf = (item: JsonObject): string[] =>
  listAt(objectAt(item, 'spec', 'networking'), 'inbound').map(inboundText);

/** `Accepted`, `InvalidParameters`, `Pending`; and whether the mesh ends. */
const meshState = (item: JsonObject): string => {
  const accepted = listAt(objectAt(item, 'status'), 'conditions').find((each) => textAt(each, 'type') === 'Accepted');
  const ends = textAt(item, 'labels', Label.terminating) === 'true';
  return [...(accepted ? [textAt(accepted, 'reason')] : []), ...(ends ? ['Terminating'] : [])].join(', ');
};

const parameters = (item: JsonObject): string =>
  [textAt(item, 'spec', 'parametersRef', 'kind'), textAt(item, 'spec', 'parametersRef', 'name')]
    .filter(Boolean)
    .join('/');

const subjects = (item: JsonObject): string[] =>
  listAt(objectAt(item, 'spec'), 'subjects').map((each) => `${textAt(each, 'kind')} ${textAt(each, 'name')}`);

const selects = (item: JsonObject): string => Object.keys(objectAt(item, 'spec', 'selector')).join(',');

/** Formats the ingress endpoint of a ZoneIngress: the advertised pair, else where it listens. */
function ingressEndpoint(item: JsonObject): string {
  const networking = objectAt(item, 'spec', 'networking');
  const pick = (field: 'Address' | 'Port'): string =>
    textAt(networking, `advertised${field}`) || textAt(networking, field.toLowerCase());
  return `${pick('Address')}:${pick('Port')}`;
}

/** Formats the parents of a route: `Service foo:80`, of other namespaces with the namespace. */
const parentsOf = (item: JsonObject): string[] =>
  listAt(objectAt(item, 'spec'), 'parentRefs').map((ref) => {
    const of = textAt(ref, 'namespace') === '' ? '' : `${textAt(ref, 'namespace')}/`;
    const port = textAt(ref, 'port') || textAt(ref, 'sectionName');
    return `${textAt(ref, 'kind') || 'Gateway'} ${of}${textAt(ref, 'name')}${port === '' ? '' : `:${port}`}`;
  });

const conditionsOf = (of: JsonObject): ReadonlyMap<string, JsonObject> =>
  new Map(listAt(of, 'conditions').map((each) => [textAt(each, 'type'), each]));

/** Of each parent the first condition that does not hold, by its reason; `Programmed` where all do. */
function routeState(item: JsonObject): string {
  const states = listAt(objectAt(item, 'status'), 'parents').map((parent) => {
    const conditions = conditionsOf(parent);
    const wanting = ['Accepted', 'ResolvedRefs', 'Programmed'].find(
      (type) => textAt(conditions.get(type) ?? {}, 'status') !== 'True',
    );
    return wanting === undefined ? 'Programmed' : textAt(conditions.get(wanting) ?? {}, 'reason') || 'Pending';
  });
  return [...new Set(states)].join(', ');
}

/** Formats the state of a policy: the one condition that is True, or why none is. */
function policyState(item: JsonObject): string {
  const conditions = conditionsOf(objectAt(item, 'status'));
  const accepted = conditions.get('Accepted');
  if (accepted && textAt(accepted, 'status') !== 'True') return textAt(accepted, 'reason');
  const holds = ['Enforced', 'PartiallyEnforced', 'Overridden'].find(
    (type) => textAt(conditions.get(type) ?? {}, 'status') === 'True',
  );
  return holds ?? textAt(conditions.get('Enforced') ?? {}, 'reason');
}

/** Formats the targets of a policy: `MeshService foo`, with the section after a colon. */
const targetsOf = (item: JsonObject): string[] =>
  listAt(objectAt(item, 'spec'), 'targetRefs').map((ref) => {
    const [of, section] = [textAt(ref, 'namespace'), textAt(ref, 'sectionName')];
    const name = textAt(ref, 'name') || '(by labels)';
    return `${textAt(ref, 'kind')} ${of === '' ? '' : `${of}/`}${name}${section === '' ? '' : `:${section}`}`;
  });

const policy: readonly Column[] = [
  { title: 'TARGETS', cell: (item) => shortened(targetsOf(item), 2), wideCell: (item) => targetsOf(item).join(', ') },
  { title: 'STATUS', cell: policyState },
];

const route: readonly Column[] = [
  { title: 'PARENTS', cell: (item) => shortened(parentsOf(item), 2), wideCell: (item) => parentsOf(item).join(', ') },
  { title: 'RULES', cell: (item) => String(listAt(objectAt(item, 'spec'), 'rules').length), onlyWide: true },
  { title: 'STATUS', cell: routeState },
];

const listeners = (item: JsonObject): string[] =>
  listAt(objectAt(item, 'spec'), 'listeners').map((each) => `${textAt(each, 'port')}/${textAt(each, 'protocol')}`);

/** Ports of a node or router of App Mesh. */
const mappedPorts = (item: JsonObject): string[] =>
  listAt(objectAt(item, 'spec'), 'listeners')
    .map((each) => objectAt(each, 'portMapping'))
    .map((each) => `${textAt(each, 'port')}/${textAt(each, 'protocol')}`);

const awsName: Column = { title: 'AWS NAME', cell: (item) => textAt(item, 'status', 'awsName') };
const appMeshPorts: Column = {
  title: 'PORTS',
  cell: (item) => shortened(mappedPorts(item), 2),
  wideCell: (item) => mappedPorts(item).join(','),
};

/** `VirtualNode node-v1`: what answers a VirtualService. */
function provider(item: JsonObject): string {
  const given = objectAt(item, 'spec', 'provider');
  const [kind, ref] =
    given['virtualNode'] === undefined
      ? ['VirtualRouter', objectAt(given, 'virtualRouter', 'virtualRouterRef')]
      : ['VirtualNode', objectAt(given, 'virtualNode', 'virtualNodeRef')];
  const [of, refName] = [textAt(ref, 'namespace'), textAt(ref, 'name')];
  return refName === '' ? '' : `${kind} ${of === '' ? '' : `${of}/`}${refName}`;
}

const special: Readonly<Record<string, readonly Column[]>> = {
  MeshService: [
    { title: 'STATE', cell: (item) => textAt(item, 'spec', 'state') },
    { title: 'HEALTHY', cell: instances, onlyWide: true },
    ports,
    vip,
    hostname,
  ],
  MeshMultiZoneService: [ports, vip, hostname],
  MeshExternalService: [vip, hostname],
  HostnameGenerator: [
    { title: 'SELECTS', cell: selects, onlyWide: true },
    {
      title: 'TEMPLATE',
      cell: (item) => cut(textAt(item, 'spec', 'template')),
      wideCell: (item) => textAt(item, 'spec', 'template'),
    },
  ],
  Dataplane: [
    { title: 'STATE', cell: readiness },
    { title: 'ADDRESS', cell: (item) => textAt(item, 'spec', 'networking', 'address') },
    {
      title: 'SERVES',
      cell: (item) => shortened(inboundsOf(item), 1),
      wideCell: (item) => inboundsOf(item).join(', '),
    },
  ],
  Mesh: [
    { title: 'CONTROLLER', cell: (item) => textAt(item, 'spec', 'controllerName') },
    { title: 'PARAMETERS', cell: parameters, onlyWide: true },
    { title: 'STATUS', cell: meshState },
  ],
  HTTPRoute: route,
  GRPCRoute: route,
  TLSRoute: route,
  TCPRoute: route,
  UDPRoute: route,
  Gateway: [{ title: 'LISTENERS', cell: (item) => shortened(listeners(item), 3) }],
  VirtualNode: [awsName, appMeshPorts],
  VirtualRouter: [
    awsName,
    appMeshPorts,
    { title: 'ROUTES', cell: (item) => String(listAt(objectAt(item, 'spec'), 'routes').length) },
  ],
  VirtualService: [awsName, { title: 'PROVIDER', cell: provider }],
  MeshIdentity: [
    { title: 'PROVIDER', cell: (item) => textAt(item, 'spec', 'provider', 'type') },
    { title: 'PATH', cell: (item) => textAt(item, 'spec', 'spiffeID', 'path'), onlyWide: true },
  ],
  MeshTrust: [{ title: 'TRUST DOMAIN', cell: (item) => textAt(item, 'spec', 'trustDomain') }],
  MeshZoneAddress: [
    { title: 'ENTRANCE', cell: (item) => `${textAt(item, 'spec', 'address')}:${textAt(item, 'spec', 'port')}` },
  ],
  ZoneIngress: [{ title: 'ENTRANCE', cell: ingressEndpoint }],
  ZoneEgress: [{ title: 'ADDRESS', cell: ingressEndpoint }],
  MetaresourceDefinition: [
    { title: 'KIND', cell: (item) => textAt(item, 'spec', 'kind') },
    { title: 'GROUP', cell: (item) => textAt(item, 'spec', 'group') },
    { title: 'STATUS', cell: (item) => textAt(conditionsOf(objectAt(item, 'status')).get('Accepted') ?? {}, 'reason') },
  ],
  Zone: [{ title: 'ENABLED', cell: (item) => textAt(item, 'spec', 'enabled') || 'true' }],
  RoleBinding: [
    { title: 'ROLE', cell: (item) => textAt(item, 'spec', 'role') },
    { title: 'SUBJECTS', cell: (item) => shortened(subjects(item), 2), wideCell: (item) => subjects(item).join(', ') },
  ],
};

/** The columns of a kind: its identity, then its most important fields. */
function chooseColumns(kind: Kind, { wide, allMeshes }: TableForm): readonly Column[] {
  const columns = [
    ...(kind.scope === 'mesh' && (allMeshes || wide) ? [mesh] : []),
    ...(kind.sync.zoneInIdentity ? [zone] : []),
    ...(kind.namespaced ? [namespace] : []),
    name,
    ...(kind.declaredBy === '' ? (special[kind.name] ?? []) : policy),
  ];
  if (!wide) return columns.filter(({ onlyWide }) => !onlyWide);
  return columns.map((column) => ({ ...column, cell: column.wideCell ?? column.cell }));
}

/** Format of the rows of resources. */
export interface RowForm extends TableForm {
  readonly showLabels: boolean;
  /** Whether names are shown as `kind/name`, since the output has several kinds. */
  readonly kindInName: boolean;
  readonly paint: Paint;
}

/** Titles whose cells say how well something is. */
const STATES = new Set(['STATE', 'ENABLED']);

/** Title and cells of the table of one kind. */
export class ResourceTable {
  private readonly columns: readonly Column[];

  constructor(
    private readonly kind: Kind,
    private readonly form: RowForm,
  ) {
    this.columns = chooseColumns(kind, form);
  }

  get head(): readonly string[] {
    return [...this.columns.map(({ title }) => title), 'AGE', ...(this.form.showLabels ? ['LABELS'] : [])];
  }

  row(item: JsonObject, now: number): readonly string[] {
    const labels = this.form.showLabels ? [labelsText(item)] : [];
    return [
      ...this.columns.map((column) => this.cell(column, item)),
      age(textAt(item, 'creationTime'), now),
      ...labels,
    ];
  }

  private cell({ title, cell }: Column, item: JsonObject): string {
    const text = cell(item);
    const { paint, kindInName } = this.form;
    if (title === 'NAME' && kindInName) return formatNoun(this.kind, text);
    if (STATES.has(title)) return paint(chooseColour(text), text);
    if (title === 'HOSTNAMES') return text.includes('NotAvailable') ? paint('yellow', text) : text;
    return text;
  }
}

function labelsText(item: JsonObject): string {
  const labels = objectAt(item, 'labels');
  const texts = isJsonObject(labels) ? Object.keys(labels).map((key) => `${key}=${textAt(labels, key)}`) : [];
  return texts.length === 0 ? '<none>' : texts.sort().join(',');
}
