import type { PipeTransform } from '@nestjs/common';
import { decodeRequestQuestion, type RequestQuestion, type RoutesQuestion } from '@causeway/queries';
import { pathParameter, type RestRequest } from '../http/rest-request';
import { readQuery } from '../http/query-reader';
import { readMinRevision } from '../http/request-decoding';
import { ROUTES_PARAMETERS, ZONE_OF_VIEW } from './query-parameters';

/** Decodes the body of a question what happens to a request: `@Body(SmallBodyPipe, RequestQuestionPipe)`. Throws Invalid. */
export class RequestQuestionPipe implements PipeTransform<unknown, RequestQuestion> {
  transform(body: unknown): RequestQuestion {
    return decodeRequestQuestion(body);
  }
}

/** A mesh, and the zone whose view of it is asked for. */
export interface View {
  readonly mesh: string;
  readonly zone: string | undefined;
}

/** Decodes the mesh of the path and the zone of the query. */
export class ViewPipe implements PipeTransform<RestRequest, View> {
  transform(request: RestRequest): View {
    const query = readQuery(request, [ZONE_OF_VIEW]);
    const zone = query.text('zone');
    query.check();
    return { mesh: pathParameter(request, 'mesh'), zone };
  }
}

/** Decodes whose routes to which service are wanted. */
export class RoutesPipe implements PipeTransform<RestRequest, RoutesQuestion> {
  transform(request: RestRequest): RoutesQuestion {
    const query = readQuery(request, ROUTES_PARAMETERS);
    const service = query.text('service') ?? '';
    if (service === '') query.refuse('service', 'must be given: the name of a service', 'required');
    const kind = query.text('kind') ?? 'MeshService';
    if (kind !== 'MeshService' && kind !== 'MeshMultiZoneService') {
      query.refuse(
        'kind',
        `must be one of MeshService, MeshMultiZoneService; got "${kind.slice(0, 80)}"`,
        'not-one-of',
      );
    }
    const port = query.integer('port', { minimum: 1, maximum: 65_535 });
    const [namespace = 'default', client, zone] = ['namespace', 'client', 'zone'].map(
      (name) => query.text(name) || undefined,
    );
    const minRevision = readMinRevision(query);
    query.check();
    return { mesh: pathParameter(request, 'mesh'), kind, namespace, service, port, client, zone, minRevision };
  }
}
