import type { JsonObject, Violation } from '@causeway/resources';

/** What identifies a resource on every control plane. */
export interface ResourceId {
  readonly kind: string;
  readonly mesh: string;
  readonly zone: string;
  readonly namespace: string;
  readonly name: string;
}

/** How one resource is named; what is usual may be left out, as on REST. */
export interface ResourceRef {
  readonly kind: string;
  /** For kinds of a mesh; absent = `default`. */
  readonly mesh?: string;
  readonly namespace?: string;
  /** Zone of origin, empty for the global; absent = made on the control plane that is asked. */
  readonly zone?: string;
  readonly name: string;
}

/** Which resources of a kind a list or watch returns; all conditions hold. */
export interface ResourceSelection {
  readonly kind: string;
  /** Absent = all meshes. */
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
  /** Everything up to here has been told. */
  | { readonly type: 'bookmark'; readonly resumeToken: string; readonly revision: number }
  /** Forget what was told: the whole list comes again. */
  | { readonly type: 'restart' };

/** What became of one document of an apply. */
export interface ApplyResult {
  readonly index: number;
  readonly id?: ResourceId | undefined;
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'refused' | 'skipped';
  readonly warnings: readonly string[];
  /** Why it was refused. */
  readonly error?: ApiError;
  /** On a dry run: the document before (absent: it would be created) and after. */
  readonly diff?: { readonly before?: JsonObject; readonly after: JsonObject };
}

/** What became of all documents, in their order. */
export interface ApplySummary {
  readonly results: readonly ApplyResult[];
  /** A reader that has seen this revision has seen the writes. */
  readonly revision: number;
}

/** How an apply is done. */
export interface ApplyOptions {
  /** All or nothing. */
  readonly atomic?: boolean;
  readonly dryRun?: boolean;
  /** The mesh of documents that name none. */
  readonly mesh?: string;
  readonly signal?: AbortSignal;
  readonly progress?: (progress: {
    readonly checked: number;
    readonly written: number;
    readonly total: number;
  }) => void;
}

/** Options of a read. */
export interface ReadOptions {
  readonly minRevision?: number;
  readonly signal?: AbortSignal;
}

/** A hostname, and where it is asked for. */
export interface HostnameQuestion {
  readonly hostname: string;
  /** Absent = `default`. */
  readonly mesh?: string;
  /** The zone whose view is asked for; required on the global. */
  readonly zone?: string;
}

/** The service that has a hostname. */
export interface ResolvedService {
  readonly service: ResourceId;
  readonly virtualIps: readonly string[];
  readonly ports: readonly { readonly port: number; readonly name: string; readonly appProtocol: string }[];
  /** Absent over REST, which does not show them. */
  readonly endpoints?:
    undefined | readonly { readonly address: string; readonly port: number; readonly ready: boolean }[];
}

/** One claim on a hostname. */
export interface HostnameClaim {
  readonly service: ResourceId;
  readonly generator: string;
  readonly available: boolean;
  readonly reason: string;
}

/** Who claims a hostname. */
export interface HostnameExplanation {
  readonly claims: readonly HostnameClaim[];
  readonly hints: readonly string[];
}

/** A control plane, over REST or gRPC: the same answers and the same errors. Every method rejects with ApiError. */
export interface ApiClient {
  get(resource: ResourceRef, options?: ReadOptions): Promise<StoredResource>;
  list(selection: ResourceSelection, options?: ReadOptions): Promise<ResourceList>;
  /** Resumes after a cut without a gap, until `signal` aborts; an event may come twice then. */
  watch(selection: ResourceSelection, options: WatchOptions): AsyncIterable<WatchEvent>;
  /** Resolves though documents were refused; their results say so. */
  apply(documents: readonly JsonObject[], options?: ApplyOptions): Promise<ApplySummary>;
  /** Resolves with warnings. `etag` must name the stored state where it is given. */
  delete(resource: ResourceRef, options?: DeleteOptions): Promise<readonly string[]>;
  resolve(question: HostnameQuestion): Promise<ResolvedService>;
  explain(question: HostnameQuestion): Promise<HostnameExplanation>;
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

/** How a control plane is reached. */
export interface Connection {
  /** `http://`, `https://`, `grpc://` or `grpcs://`, a host and a port. */
  readonly server: URL;
  /** A bearer token. */
  readonly token?: string;
  /** Certificates (PEM) that the server is verified by, in place of those that Node trusts. */
  readonly ca?: string;
  /** Accepts any certificate. */
  readonly insecure?: boolean;
}

/** What went wrong, the same for both interfaces. */
export type ApiErrorCode =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'conflict'
  | 'precondition-failed'
  | 'exhausted'
  | 'watch-expired'
  | 'unavailable'
  | 'internal';

/** A refusal of the server, or a server that cannot be reached (`unavailable`). */
export class ApiError extends Error {
  constructor(
    readonly code: ApiErrorCode,
    message: string,
    /** Each broken rule with its field. */
    readonly violations: readonly Pick<Violation, 'field' | 'reason'>[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ApiError';
  }
}
