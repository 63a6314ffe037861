import type { Admission } from '@causeway/admission';
import type { AccessReviews, EventEncoder, Queries } from '@causeway/queries';
import type { BatchBodies } from '../http/batch-body';
import type { RequestAudit } from '../http/request-audit';
import type { RestRuntime } from '../rest-dependencies';

/** Sources of all endpoints. */
export interface EndpointSources extends RestRuntime {
  readonly queries: Queries;
  readonly admission: Admission;
  readonly reviews: AccessReviews;
  readonly audit: RequestAudit;
  readonly batches: BatchBodies;
  readonly events: EventEncoder;
  /** Returns the PEM certificate of the authority that issued this server's certificate; undefined if it is an external one. */
  readonly authority: () => string | undefined;
  /** The OpenAPI document. */
  readonly openApi: () => string;
  /** Aborts when the server shuts down. */
  readonly ending: AbortSignal;
}
