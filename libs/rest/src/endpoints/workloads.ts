import type { CallerRights } from '@causeway/access';
import { confirmWorkload, listWorkloads, revokeWorkload } from '@causeway/api';
import { tableBody } from '../answers/responses';
import { pageRange } from '../http/request-decoding';
import type { Call } from '../operations/call';
import { endpoint, type Endpoint } from '../operations/endpoint';
import type { EndpointSources } from '../operations/sources';

/** Endpoints of a zone's enrolled hosts, and of the revocation of their rights (docs/reference/enrolments.md). */
export function workloadEndpoints({ queries, audit }: EndpointSources): readonly Endpoint[] {
  const { workloads } = queries;
  const authorize = (body: unknown, rights: CallerRights): void => workloads.checkMayRevoke(body, rights);
  const setAuditName = ({ request }: Call, { mesh, namespace, name }: WorkloadOrder): void =>
    audit.setName(request, [mesh, ...(namespace === undefined ? [] : [namespace]), name].join('/'));
  return [
    endpoint(listWorkloads, ({ request, rights }, { query }) => {
      const range = pageRange(query);
      return tableBody(request, workloads.list(range, rights), range);
    }),
    endpoint(
      revokeWorkload,
      async (call, { body }) => {
        const answer = await workloads.revoke(body, call.rights);
        setAuditName(call, body);
        if (body.dryRun === true) audit.markDryRun(call.request);
        return answer;
      },
      { authorize },
    ),
    endpoint(
      confirmWorkload,
      async (call, { body }) => {
        const answer = await workloads.confirm(body);
        setAuditName(call, body);
        return answer;
      },
      { authorize },
    ),
  ];
}

interface WorkloadOrder {
  readonly mesh: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}
