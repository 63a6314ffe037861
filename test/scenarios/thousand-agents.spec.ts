import { connect, type ClientHttp2Session } from 'node:http2';
import { setTimeout as pause } from 'node:timers/promises';
import { DeltaDiscoveryRequest } from '@causeway/proto-gen';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import { frameMessage } from '@causeway/grpc-server';
import { XdsPlane } from '../support/xds-plane';
import { until } from '../support/until';

const AGENTS = 1_000;
/** Time within which all of them must reconnect, ms. */
const RECONNECT = 8_000;
/** Streams that an agent begins at once on its new connection, before one of them is answered. */
const STREAMS = 3;
/** Agents that come back in one moment. */
const TOGETHER = 50;

const headers = {
  ':method': 'POST',
  'content-type': 'application/grpc',
  te: 'trailers',
  authorization: 'Bearer valid',
  ':path': '/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources',
};

/** An agent with its own connection and streams. */
class ReturningAgent {
  private readonly session: ClientHttp2Session;
  private answers = 0;
  isEnded = false;

  constructor(port: number, node: string) {
    this.session = connect(`http://127.0.0.1:${port}`);
    this.session.on('error', () => (this.isEnded = true)).on('close', () => (this.isEnded = true));
    const request = DeltaDiscoveryRequest.fromPartial({ node: { id: node }, typeUrl: RESOURCE_TYPES.cluster });
    const bytes = frameMessage(DeltaDiscoveryRequest.encode(request).finish());
    for (let n = 0; n < STREAMS; n++) {
      const stream = this.session.request(headers);
      stream.on('error', () => (this.isEnded = true));
      stream.once('data', () => (this.answers += 1));
      stream.write(bytes);
    }
  }

  get isServed(): boolean {
    return this.answers === STREAMS;
  }

  close(): void {
    this.session.destroy();
  }
}

describe('1,000 agents behind one address', () => {
  const plane = new XdsPlane();
  const agents: ReturningAgent[] = [];
  beforeAll(() => plane.start());
  afterAll(async () => {
    for (const agent of agents) agent.close();
    await plane.stop();
  });

  it('reconnect within 8 s by the presets, with several streams each, and no connection is ended', async () => {
    for (let n = 0; n < AGENTS; n++) {
      agents.push(new ReturningAgent(plane.port, `agent-${n}`));
      if (n % TOGETHER === TOGETHER - 1) await pause(RECONNECT / (AGENTS / TOGETHER));
    }
    await until('every agent is served', () => agents.every(({ isServed, isEnded }) => isServed || isEnded));
    expect(agents.filter(({ isEnded }) => isEnded)).toHaveLength(0);
    expect(plane.server.load().streams).toBe(AGENTS * STREAMS);
  });
});
