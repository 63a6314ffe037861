/** Names of our own kinds and of what else users are allowed to do, which do not begin with Mesh. */
const KINDS = [
  ...[
    'AuthenticationConfiguration',
    'ConfigMap',
    'Dataplane',
    'Gateway',
    'GlobalSecret',
    'GRPCRoute',
    'HostnameGenerator',
  ],
  ...['HTTPRoute', 'MetaresourceDefinition', 'Namespace', 'ReferenceGrant', 'Role', 'RoleBinding', 'RouteInsight'],
  ...['Secret', 'TCPRoute', 'TLSRoute', 'UDPRoute', 'XMesh', 'Zone', 'ZoneEgress', 'ZoneIngress'],
  ...['VirtualNode', 'VirtualRouter', 'VirtualService'],
  // Kinds of other meshes.
  ...['GatewayRoute', 'VirtualGateway'],
  // Kuma's, which zones of Kuma send.
  ...['DataplaneInsight', 'ZoneIngressInsight', 'ZoneEgressInsight', 'ZoneInsight', 'Config', 'ExternalService'],
  // Kubernetes' words for what ours have other names for.
  ...['Service', 'Route', 'Pod', 'ServiceImport', 'ServiceExport', 'CustomResourceDefinition'],
  // What roles speak of besides kinds.
  ...['AccessReview', 'AuditLog', 'Configuration', 'DataplaneToken', 'Diagnosis', 'SyncDecision', 'UserToken'],
  ...['WorkloadAuthority', 'ZoneToken', 'Workload', 'Enrolment', 'EnrolmentEpoch', 'WorkloadRevocation'],
  ...['IdentityPath', 'IdentityPathState'],
];

/** Plurals and short names of our own kinds, and first words of paths of REST. */
const WORDS = [
  ...[
    'authn',
    'cm',
    'dp',
    'ds',
    'extsvc',
    'gsec',
    'gtw',
    'hg',
    'm',
    'metaresourcedefinitions',
    'mid',
    'mn',
    'mp',
    'mrd',
    'msvc',
  ],
  ...['mtrust', 'mza', 'mzsvc', 'ns', 'rb', 'refgrant', 'rinsight', 'routeinsights', 'sec', 'xmeshes', 'z', 'ze', 'zi'],
  ...['authenticationconfigurations', 'configmaps', 'dataplanes', 'gateways', 'globalsecrets', 'grpcroutes'],
  ...['hostnamegenerators', 'httproutes', 'namespaces', 'referencegrants', 'rolebindings', 'roles', 'secrets'],
  ...['virtualnodes', 'virtualrouters', 'virtualservices', 'vn', 'vr', 'vs'],
  ...['tcproutes', 'tlsroutes', 'udproutes', 'zoneegresses', 'zoneingresses', 'zones'],
  ...['dpinsight', 'dataplaneinsights', 'ziinsight', 'zoneingressinsights', 'zeinsight', 'zoneegressinsights'],
  ...[
    'mal',
    'mcb',
    'mfi',
    'mhc',
    'mhttpr',
    'mlbs',
    'mm',
    'mpt',
    'mpp',
    'mrl',
    'mr',
    'mtcpr',
    'mt',
    'mtls',
    'mtr',
    'mtp',
  ],
  ...[
    'all',
    'apply',
    'audit',
    'config',
    'dns',
    'docs',
    'doctor',
    'kds',
    'kri',
    'kris',
    'policies',
    'resources',
    'rest',
  ],
  ...[
    'status',
    'tokens',
    'topology',
    'version',
    'whoami',
    'xds',
    'proxies',
    'hostnames',
    'vips',
    'leases',
    'instances',
  ],
  ...['workloads', 'enrolments', 'enrolmentepochs', 'workloadrevocations', 'wrevocation'],
  ...['identitypaths', 'idpath', 'identitypathstates', 'idpathstate'],
];

const RESERVED: ReadonlySet<string> = new Set([...KINDS, ...WORDS].map((word) => word.toLowerCase()));

/**
 * Whether no definition may use this word as a kind, plural or short name, in whatever case: it is ours, Kuma's, a path of REST, or
 * begins with Mesh, as all kinds of meshes do. Kinds of a later version that are not listed win over a definition.
 */
export function isReservedName(word: string): boolean {
  const lower = word.toLowerCase();
  return lower.startsWith('mesh') || RESERVED.has(lower);
}
