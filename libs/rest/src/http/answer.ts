import type { FastifyReply } from 'fastify';

/** An answer before it becomes bytes; `body` is text ready to send. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** 200 with JSON text that was made already. */
export function jsonText(body: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status: 200, headers: { 'content-type': JSON_TYPE, ...headers }, body };
}

/** 200 with a value as JSON. */
export function json(value: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return jsonText(JSON.stringify(value), headers);
}

/** Sends an answer. */
export function send(reply: FastifyReply, answer: Answer): void {
  void reply.code(answer.status).headers(answer.headers).send(answer.body);
}
