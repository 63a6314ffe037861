import { isJsonObject, Label, type JsonObject, type Kind } from '@causeway/resources';
import { chooseColour, type Paint } from '../../colour';
import { formatNoun } from '../../refs';
import { age, listAt, objectAt, textAt } from '../../render';

/** One column of a kind's table. */
export interface Column {
  readonly title: string;
  readonly cell: (item: JsonObject) => string;
  /** Content for `-o wide`; a `wide` column appears only there. */
  readonly wideCell?: (item: JsonObject) => string;
  readonly onlyWide?: boolean;
}

/** Options that select the columns of a table. */
interface TableForm {
  readonly wide: boolean;
  /** Whether the rows belong to several meshes. */
  readonly allMeshes: boolean;
}

/** Maximum length of a text that is not a name; `-o wide` shows all. */
const MAX_TEXT = 60;

const name: Column = { title: 'NAME', cell: (item) => textAt(item, 'name') };
const mesh: Column = { title: 'MESH', cell: (item) => textAt(item, 'mesh') };
const namespace: Column = { title: 'NAMESPACE', cell: (item) => textAt(item, 'namespace') || 'default' };
const zone: Column = {
  title: 'ZONE',
  cell: (item) => textAt(item, 'labels', 'kuma.io/zone') || textAt(item, 'zone') || '(global)',
};

/** Returns the first texts, and the number of further ones. */
function shortened(texts: readonly string[], shown: number): string {
  const more = texts.length > shown ? ` +${texts.length - shown}` : '';
  return `${texts.slice(0, shown).join(',')}${more}`;
}

/** Truncates a long text. */
function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text;
}

const listPorts = (item: JsonObject): string[] =>
  listAt(objectAt(item, 'spec'), 'ports').map(
    (port) => `${textAt(port, 'port')}/${textAt(port, 'appProtocol') || 'tcp'}`,
  );

/** Returns the addresses with a hostname or a reason why there is none, Available ones first. */
function listAddresses(item: JsonObject): readonly JsonObject[] {
  const all = listAt(objectAt(item, 'status'), 'addresses');
  return [...all.filter(isAvailable), ...all.filter((address) => !isAvailable(address))];
}

function isAvailable(address: JsonObject): boolean {
  return textAt(address, 'status') === 'Available';
}

/** `a.mesh +2 (1 NotAvailable)`: the first hostname, the number of further ones, and how many of all are not available. */
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

/** Returns why a service gets no address; empty while the allocation is pending. */
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

/** Returns `Ready`, `NotReady` or the number of ready inbounds of a Dataplane. */
export function readiness(item: JsonObject): string {
  const inbounds = listAt(objectAt(item, 'spec', 'networking'), 'inbound').filter(
    (inbound) => textAt(inbound, 'state') !== 'Ignored',
  );
  const ready = inbounds.filter(isReady).length;
  if (ready === inbounds.length) return inbounds.length === 0 ? 'Ignored' : 'Ready';
  return ready === 0 ? 'NotReady' : `PartiallyReady (${ready}/${inbounds.length})`;
}

/** Reports whether an inbound accepts requests: as on the control plane, only `state` decides (docs/reference/kuma-2.14.md §3). */
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

/** Returns `Accepted`, `InvalidParameters` or `Pending`, and whether the mesh is terminating. */
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

/** Formats the address of a ZoneIngress: the advertised one, else that of its listener. */
function ingressEndpoint(item: JsonObject): string {
  const networking = objectAt(item, 'spec', 'networking');
  const pick = (field: 'Address' | 'Port'): string =>
    textAt(networking, `advertised${field}`) || textAt(networking, field.toLowerCase());
  return `${pick('Address')}:${pick('Port')}`;
}

/** Formats the parents of a route, such as `Service foo:80`; with the namespace if it is another one. */
const parentsOf = (item: JsonObject): string[] =>
  listAt(objectAt(item, 'spec'), 'parentRefs').map((ref) => {
    const of = textAt(ref, 'namespace') === '' ? '' : `${textAt(ref, 'namespace')}/`;
    const port = textAt(ref, 'port') || textAt(ref, 'sectionName');
    return `${textAt(ref, 'kind') || 'Gateway'} ${of}${textAt(ref, 'name')}${port === '' ? '' : `:${port}`}`;
  });

const conditionsOf = (of: JsonObject): ReadonlyMap<string, JsonObject> =>
  new Map(listAt(of, 'conditions').map((each) => [textAt(each, 'type'), each]));

/** Returns for each parent the reason of the first condition that does not hold; `Programmed` if all hold. */
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

/** Formats the state of a policy: the one condition that is True, or the reason why none is. */
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

/** Returns the ports of a node or router of App Mesh. */
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

/** `VirtualNode node-v1`: the provider of a VirtualService. */
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

/** Returns the columns of a kind: its identity, then its most important fields. */
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

/** Options of the rows of resources. */
export interface RowForm extends TableForm {
  readonly showLabels: boolean;
  /** Whether names are shown as `kind/name`, because the output has several kinds. */
  readonly kindInName: boolean;
  readonly paint: Paint;
}

/** Titles of columns whose cells are coloured by state. */
const STATES = new Set(['STATE', 'ENABLED']);

/** The title and cells of the table of one kind. */
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
