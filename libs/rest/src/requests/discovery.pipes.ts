import type { PipeTransform } from '@nestjs/common';
import type { TargetSelection } from '@causeway/queries';
import { header, type RestRequest } from '../http/rest-request';
import { HOSTS_PARAMETERS, TARGETS_PARAMETERS } from './query-parameters';
import { readQuery } from '../http/query-reader';
import { readMinRevision } from '../http/request-decoding';

/** Query of every document. */
interface DocumentQuery {
  /** The revision that it must show at least. */
  readonly minRevision: number | undefined;
  /** ETags of what the client has; `*` is any. */
  readonly held: readonly string[];
}

/** Which targets of Prometheus are wanted. */
export interface TargetsQuery extends DocumentQuery {
  readonly selection: TargetSelection;
}

/** Of which mesh hostnames are wanted. */
export interface HostsQuery extends DocumentQuery {
  readonly mesh?: string;
}

/** Decodes which targets are wanted: `@FromRequest(TargetsPipe)`. */
export class TargetsPipe implements PipeTransform<RestRequest, TargetsQuery> {
  transform(request: RestRequest): TargetsQuery {
    const query = readQuery(request, TARGETS_PARAMETERS);
    const selection = {
      mesh: query.text('mesh'),
      namespace: query.text('namespace'),
      service: query.text('service'),
      port: query.text('port'),
    };
    const minRevision = readMinRevision(query);
    query.check();
    return { selection, minRevision, held: heldBy(request) };
  }
}

/** Decodes of which mesh hostnames are wanted: `@FromRequest(HostsPipe)`. */
export class HostsPipe implements PipeTransform<RestRequest, HostsQuery> {
  transform(request: RestRequest): HostsQuery {
    const query = readQuery(request, HOSTS_PARAMETERS);
    const mesh = query.text('mesh');
    const minRevision = readMinRevision(query);
    query.check();
    return { ...(mesh === undefined ? {} : { mesh }), minRevision, held: heldBy(request) };
  }
}

function heldBy(request: RestRequest): readonly string[] {
  const tags = header(request, 'if-none-match') ?? '';
  return tags.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
}
