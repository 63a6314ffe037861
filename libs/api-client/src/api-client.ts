import type {
  HostnameExplanation,
  listRoutesOfService,
  QueryOf,
  RequestAnswer,
  RequestQuestion,
  ResolvedHostname,
  ServiceRoutes,
} from '@causeway/api';
import type { JsonObject } from '@causeway/resources';
import type { ApiError } from './api-error';
import type { OpenWords } from './rest/call-input';
import type { RestCalls } from './rest/rest-calls';

/** Identity of a resource on every control plane. */
export interface ResourceId {
  readonly kind: string;
  readonly mesh: string;
  readonly zone: string;
  readonly namespace: string;
  readonly name: string;
}

/** Reference to one resource; defaults may be left out, as on REST. */
export interface ResourceRef {
  readonly kind: string;
  /** For kinds of a mesh; absent or empty = the one that the control plane expects (CAUSEWAY_MESH_NAME). */
  readonly mesh?: string;
  readonly namespace?: string;
  /** Zone of origin, empty for the global; absent = made on the control plane that is asked. */
  readonly zone?: string;
  readonly name: string;
}

/** Which resources of a kind a list or watch returns; all conditions hold. */
export interface ResourceSelection {
  readonly kind: string;
  /** Absent = all meshes; empty = the one that the control plane expects. */
  readonly mesh?: string;
  readonly namespace?: string;
  readonly zone?: string;
  /** Text that the name contains. */
  readonly nameContains?: string;
  /** In Kubernetes' syntax. */
  readonly labelSelector?: string;
}

/** A resource as it was read. */
export interface StoredResource {
  readonly document: JsonObject;
  readonly etag: string;
  readonly revision: number;
}

/** A whole list; a watch with `resumeToken` continues behind it without a gap. */
export interface ResourceList {
  readonly documents: readonly JsonObject[];
  readonly revision: number;
  readonly resumeToken: string;
}

/** An event of a watch. */
export type WatchEvent =
  | { readonly type: 'put'; readonly document: JsonObject }
  | { readonly type: 'deleted'; readonly id: ResourceId }
  /** Everything up to here has been sent. */
  | { readonly type: 'bookmark'; readonly resumeToken: string; readonly revision: number }
  /** Discard the state: the whole list follows again. */
  | { readonly type: 'restart' };

/** Result of one document of an apply. */
export interface ApplyResult {
  readonly index: number;
  readonly id?: ResourceId | undefined;
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'refused' | 'skipped';
  readonly warnings: readonly string[];
  /** Why it was refused. */
  readonly error?: ApiError;
  /** Position of another document of the same resource, where that is why. */
  readonly sameAs?: number;
  /** On a dry run: the document before (absent: it would be created) and after. */
  readonly diff?: { readonly before?: JsonObject; readonly after: JsonObject };
}

/** Results of all documents, in their order. */
export interface ApplySummary {
  readonly results: readonly ApplyResult[];
  /** A reader that has seen this revision has seen the writes. */
  readonly revision: number;
}

/** Options of an apply. */
export interface ApplyOptions {
  /** All or nothing. */
  readonly atomic?: boolean;
  readonly dryRun?: boolean;
  /** The mesh of documents that name none. */
  readonly mesh?: string;
  readonly signal?: AbortSignal;
  /** Hears of each result as it arrives, also of those before an answer that breaks off. */
  readonly result?: (result: ApplyResult) => void;
  readonly progress?: (progress: {
    readonly checked: number;
    readonly written: number;
    readonly total: number;
  }) => void;
}

/** Options of a read. */
export interface ReadOptions {
  readonly minRevision?: number;
  /** Of a list: documents that are read at most. */
  readonly most?: number;
  readonly signal?: AbortSignal;
}

/** A hostname, and where it is asked for. */
export interface HostnameQuestion {
  readonly hostname: string;
  /** Absent or empty = the one that the control plane expects. */
  readonly mesh?: string;
  /** The zone whose view is asked for; required on the global. */
  readonly zone?: string | undefined;
}

/** A request whose fate is asked for. */
export interface RequestExplanationQuestion {
  /** Absent or empty = the one that the control plane expects. */
  readonly mesh?: string;
  /** The zone whose view is asked for; required on the global. */
  readonly zone?: string | undefined;
  readonly question: OpenWords<RequestQuestion>;
}

/** A service whose merged routes are asked for. */
export type RoutesOfServiceQuestion = Omit<QueryOf<typeof listRoutesOfService>, 'minRevision'> & {
  readonly mesh?: string;
};

/** A control plane, over REST or gRPC: the same answers and the same errors. Every method rejects with ApiError. */
export interface ApiClient {
  /** The address that it was made for. */
  readonly server: URL;
  /** Calls that only REST answers; over gRPC each of them rejects with the code `rest-only`. */
  readonly rest: RestCalls;
  get(resource: ResourceRef, options?: ReadOptions): Promise<StoredResource>;
  list(selection: ResourceSelection, options?: ReadOptions): Promise<ResourceList>;
  /**
   * Resumes after a cut without a gap, until `signal` aborts; an event may come twice then. Rejects where not even the first
   * stream could be opened.
   */
  watch(selection: ResourceSelection, options: WatchOptions): AsyncIterable<WatchEvent>;
  /** Applies documents of JSON values. Resolves even if some were refused; their results say so. */
  apply(documents: readonly unknown[], options?: ApplyOptions): Promise<ApplySummary>;
  /** Writes one resource, whose document must name it. Rejects if it is refused, and if `etag` is not that of the stored state. */
  replace(
    resource: ResourceRef,
    document: JsonObject,
    options?: { readonly etag?: string; readonly dryRun?: boolean },
  ): Promise<Pick<ApplyResult, 'outcome' | 'warnings'>>;
  /** Resolves with warnings. `etag` must name the stored state where it is given. */
  delete(resource: ResourceRef, options?: DeleteOptions): Promise<readonly string[]>;
  resolve(question: HostnameQuestion): Promise<ResolvedHostname>;
  explain(question: HostnameQuestion): Promise<HostnameExplanation>;
  explainRequest(question: RequestExplanationQuestion): Promise<RequestAnswer>;
  routesOf(question: RoutesOfServiceQuestion): Promise<ServiceRoutes>;
  close(): void;
}

/** Options of a deletion. */
export interface DeleteOptions {
  readonly etag?: string;
  readonly dryRun?: boolean;
  /** Of a Mesh: it takes no new members from now on, also where it has members and the deletion is refused. */
  readonly terminate?: boolean;
}

/** Options of a watch. */
export interface WatchOptions {
  readonly signal: AbortSignal;
  /** Absent: the whole list comes first. */
  readonly resumeToken?: string;
}

/** Address and credentials of a control plane. */
export interface Connection {
  /** `http://`, `https://`, `grpc://` or `grpcs://`, a host and a port. */
  readonly server: URL;
  /** A bearer token. */
  readonly token?: string;
  /** Certificates (PEM) that the server is verified by, in place of those that Node trusts. */
  readonly ca?: string;
  /** Accepts any certificate. */
  readonly insecure?: boolean;
  /** Ends every call that has no signal of its own. */
  readonly signal?: AbortSignal;
}
