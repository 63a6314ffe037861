import { rm } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { connect } from 'node:net';
import { formatStatus, type AgentStatus } from './status';

/** Operations that the socket of an agent serves. */
export interface AgentOperations {
  readonly status: () => AgentStatus;
  /** Starts a graceful end. */
  readonly drain: () => void;
}

/** Maximum length of a unix socket path on every system. */
const MAX_SOCKET_LENGTH = 103;
const TIMEOUT = 5_000;
const MAX_RESPONSE_LENGTH = 16 * 1024 * 1024;

/**
 * Unix socket in the state folder at which an agent serves its status; only its user can enter the folder. It is also a
 * lock: a second agent with the same folder finds it and does not start.
 */
export class AgentSocket {
  private constructor(
    private readonly server: Server,
    private readonly path: string,
  ) {}

  /** Rejects if another agent answers at the path, or if it cannot listen. */
  static async listen(path: string, operations: AgentOperations): Promise<AgentSocket> {
    if (path.length > MAX_SOCKET_LENGTH)
      throw new Error(`${path}: the path is too long for a socket: choose another state folder`);
    if (await isAnswered(path)) throw new Error(`another agent runs with this state folder: it answers at ${path}`);
    await rm(path, { force: true });
    const server = createServer((asked, answer) => {
      const is = `${asked.method} ${asked.url}`;
      if (is === 'GET /status') {
        answer.setHeader('content-type', 'application/json').end(JSON.stringify(operations.status(), null, 2));
      } else if (is === 'GET /status.txt') answer.end(formatStatus(operations.status(), Date.now()));
      else if (is === 'POST /drain') {
        operations.drain();
        answer.writeHead(202).end();
      } else answer.writeHead(404).end();
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
    return new AgentSocket(server, path);
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
    await rm(this.path, { force: true });
  }
}

/** Sends a request to an agent. Undefined if none answers; rejects if it answers with an error. */
export async function askAgent(path: string, method: 'GET' | 'POST', place: string): Promise<string | undefined> {
  if (!(await isAnswered(path))) return undefined;
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath: path, method, path: place, timeout: TIMEOUT }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        if (text.length > MAX_RESPONSE_LENGTH) asked.destroy(new Error('the answer is too long'));
      });
      answer.on('end', () => {
        const { statusCode = 0 } = answer;
        if (statusCode < 300) resolve(text);
        else reject(new Error(`the agent answers ${statusCode}`));
      });
      answer.on('error', reject);
    });
    asked.on('timeout', () => asked.destroy(new Error('the agent does not answer in time')));
    asked.on('error', reject);
    asked.end();
  });
}

/** Returns whether a program listens at a unix socket. */
export function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const finish = (is: boolean): void => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}
