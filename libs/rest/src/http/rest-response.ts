import type { FastifyReply } from 'fastify';

/** An answer before it becomes bytes; `body` is text ready to send. */
export interface RestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** 200 with JSON text that was made already. */
export function jsonTextResponse(body: string, headers: Readonly<Record<string, string>> = {}): RestResponse {
  return { status: 200, headers: { 'content-type': JSON_TYPE, ...headers }, body };
}

/** 200 with a value as JSON. */
export function jsonResponse(value: unknown, headers: Readonly<Record<string, string>> = {}): RestResponse {
  return jsonTextResponse(JSON.stringify(value), headers);
}

/** Sends an answer. */
export function send(reply: FastifyReply, answer: RestResponse): void {
  void reply.code(answer.status).headers(answer.headers).send(answer.body);
}
