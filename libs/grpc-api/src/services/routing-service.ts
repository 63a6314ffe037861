import {
  RequestAnswer,
  ServiceRoutes,
  type ExplainRequestRequest,
  type ExplainRequestResponse,
  type ListRoutesRequest,
  type ListRoutesResponse,
} from '@causeway/proto-gen';
import { decodeRequestQuestion, type Queries } from '@causeway/queries';
import type { CallContext } from '../calls/handler-factory';
import { readName, refused, readRevision } from '../wire/messages';

/** Maximum length of a question, in characters: more than the maximum of its headers and URL together. */
const MAX_QUESTION_LENGTH = 64 * 1024;
/** Handlers of ExplainRequest and ListRoutes. Answers are the documents of REST, as typed fields and, for older clients, as JSON text. */
export class RoutingServiceHandlers {
  constructor(private readonly queries: Pick<Queries, 'defaultMesh' | 'routes'>) {}

  async explainRequest(
    { mesh, zone, questionJson }: ExplainRequestRequest,
    { rights, signal }: CallContext,
  ): Promise<ExplainRequestResponse> {
    const question = decodeRequestQuestion(parseQuestion(questionJson));
    const view = { rights, zone: readName('zone', zone), signal };
    const answer = await this.queries.routes.explain(this.resolveMesh(mesh), question, view);
    return { answerJson: JSON.stringify(answer), answer: RequestAnswer.fromJSON(answer) };
  }

  async listRoutes(request: ListRoutesRequest, { rights, signal }: CallContext): Promise<ListRoutesResponse> {
    const kind = request.kind || 'MeshService';
    if (kind !== 'MeshService' && kind !== 'MeshMultiZoneService') {
      throw refused('kind', 'must be one of MeshService, MeshMultiZoneService');
    }
    const service = readName('service', request.service);
    if (service === undefined) throw refused('service', 'must be given: the name of a service');
    if (request.port > 65_535) throw refused('port', 'must be at most 65535');
    const [namespace = 'default', client, zone] = [
      readName('namespace', request.namespace),
      readName('client', request.client),
      readName('zone', request.zone),
    ];
    const question = {
      mesh: this.resolveMesh(request.mesh),
      kind,
      namespace,
      service,
      client,
      zone,
      port: request.port || undefined,
      minRevision: readRevision(request.minRevision),
    };
    const answer = await this.queries.routes.table(question, rights, signal);
    return { answerJson: JSON.stringify(answer), answer: ServiceRoutes.fromJSON(answer) };
  }

  private resolveMesh(mesh: string): string {
    return readName('mesh', mesh) ?? this.queries.defaultMesh;
  }
}

function parseQuestion(json: string): unknown {
  if (json.length > MAX_QUESTION_LENGTH) {
    throw refused('question_json', `must not be longer than ${MAX_QUESTION_LENGTH} characters`);
  }
  try {
    return JSON.parse(json);
  } catch {
    throw refused('question_json', 'must be JSON');
  }
}
