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

/** A reference to one resource; defaults may be omitted, as in REST. */
export interface ResourceRef {
  readonly kind: string;
  /** For kinds with a mesh; absent or empty: the mesh that the control plane expects (CAUSEWAY_MESH_NAME). */
  readonly mesh?: string;
  readonly namespace?: string;
  /** Zone of origin, empty for the global; absent: the control plane that is called. */
  readonly zone?: string;
  readonly name: string;
}

/** Filters of a list or watch; all of them must match. */
export interface ResourceSelection {
  readonly kind: string;
  /** Absent: all meshes; empty: the mesh that the control plane expects. */
  readonly mesh?: string;
  readonly namespace?: string;
  readonly zone?: string;
  /** A substring of the name. */
  readonly nameContains?: string;
  /** In Kubernetes' syntax. */
  readonly labelSelector?: string;
}

/** A resource as read. */
export interface StoredResource {
  readonly document: JsonObject;
  readonly etag: string;
  readonly revision: number;
}

/** A whole list; a watch with `resumeToken` continues from it without a gap. */
export interface ResourceList {
  readonly documents: readonly JsonObject[];
  readonly revision: number;
  readonly resumeToken: string;
}

/** An event of a watch. */
export type WatchEvent =
  | { readonly type: 'put'; readonly document: JsonObject }
  | { readonly type: 'deleted'; readonly id: ResourceId }
  /** All changes up to here have been sent. */
  | { readonly type: 'bookmark'; readonly resumeToken: string; readonly revision: number }
  /** Discard the state: the whole list follows. */
  | { readonly type: 'restart' };

/** Result of one document of an apply. */
export interface ApplyResult {
  readonly index: number;
  readonly id?: ResourceId | undefined;
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'refused' | 'skipped';
  readonly warnings: readonly string[];
  /** The reason of a refusal. */
  readonly error?: ApiError;
  /** The position of another document of the same resource, if that is the reason. */
  readonly sameAs?: number;
  /** On a dry run: the document before (absent: it would be created) and after. */
  readonly diff?: { readonly before?: JsonObject; readonly after: JsonObject };
}

/** Results of all documents, in their order. */
export interface ApplySummary {
  readonly results: readonly ApplyResult[];
  /** A reader at this revision has seen the writes. */
  readonly revision: number;
}

/** Options of an apply. */
export interface ApplyOptions {
  /** Whether either all documents are written or none. */
  readonly atomic?: boolean;
  readonly dryRun?: boolean;
  /** The mesh of documents that name none. */
  readonly mesh?: string;
  readonly signal?: AbortSignal;
  /** Called with each result as it arrives, also if the answer later breaks off. */
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
  /** For a list: the maximum number of documents to read. */
  readonly most?: number;
  readonly signal?: AbortSignal;
}

/** A hostname, and the mesh and zone of the question. */
export interface HostnameQuestion {
  readonly hostname: string;
  /** Absent or empty: the mesh that the control plane expects. */
  readonly mesh?: string;
  /** The zone whose point of view applies; required on the global. */
  readonly zone?: string | undefined;
}

/** A question about the handling of a request. */
export interface RequestExplanationQuestion {
  /** Absent or empty: the mesh that the control plane expects. */
  readonly mesh?: string;
  /** The zone whose point of view applies; required on the global. */
  readonly zone?: string | undefined;
  readonly question: OpenWords<RequestQuestion>;
}

/** A question about the merged routes of a service. */
export type RoutesOfServiceQuestion = Omit<QueryOf<typeof listRoutesOfService>, 'minRevision'> & {
  readonly mesh?: string;
};

/** A client of a control plane, over REST or gRPC: the same answers and the same errors. Every method rejects with ApiError. */
export interface ApiClient {
  /** The address of the server. */
  readonly server: URL;
  /** Operations that only REST has; over gRPC each of them rejects with the code `rest-only`. */
  readonly rest: RestCalls;
  get(resource: ResourceRef, options?: ReadOptions): Promise<StoredResource>;
  list(selection: ResourceSelection, options?: ReadOptions): Promise<ResourceList>;
  /**
   * Watches until `signal` aborts. Resumes after a broken stream without a gap; an event may then be repeated. Rejects if the first stream could not
   * be opened.
   */
  watch(selection: ResourceSelection, options: WatchOptions): AsyncIterable<WatchEvent>;
  /** Applies documents of JSON values. Resolves even if some were refused; their results say so. */
  apply(documents: readonly unknown[], options?: ApplyOptions): Promise<ApplySummary>;
  /** Writes one resource, whose document must name it. Rejects if it is refused, or if `etag` does not match the stored state. */
  replace(
    resource: ResourceRef,
    document: JsonObject,
    options?: { readonly etag?: string; readonly dryRun?: boolean },
  ): Promise<Pick<ApplyResult, 'outcome' | 'warnings'>>;
  /** Deletes a resource; resolves with warnings. `etag`, if given, must match the stored state. */
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
  /** For a Mesh: it takes no new members from now on, even if it has members and the deletion is refused. */
  readonly terminate?: boolean;
  /** For a Zone: it is deleted also while it is Online. */
  readonly force?: boolean;
}

/** Options of a watch. */
export interface WatchOptions {
  readonly signal: AbortSignal;
  /** Absent: starts with the whole list. */
  readonly resumeToken?: string;
}

/** Address and credentials of a control plane. */
export interface Connection {
  /** `http://`, `https://`, `grpc://` or `grpcs://`, a host and a port. */
  readonly server: URL;
  /** A bearer token. */
  readonly token?: string;
  /** Certificates (PEM) that verify the server, instead of those that Node trusts. */
  readonly ca?: string;
  /** Whether to accept any certificate. */
  readonly insecure?: boolean;
  /** Ends every call that has no signal of its own. */
  readonly signal?: AbortSignal;
}
