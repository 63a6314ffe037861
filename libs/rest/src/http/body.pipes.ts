import { Inject, Injectable, type CanActivate, type ExecutionContext, type PipeTransform } from '@nestjs/common';
import { FieldPath, Invalid, isJsonObject, type JsonObject } from '@causeway/resources';
import { decodeBody } from './body-decode';
import { BodyParser, UnreadBody } from './body-parser';
import type { RestRequest } from './rest-request';

/** The value of a JSON or YAML body of any legal size: `@Body(ParsedBodyPipe) body: unknown`. Throws 400, 413, 415, 503. */
@Injectable()
export class ParsedBodyPipe implements PipeTransform<unknown, Promise<unknown>> {
  constructor(@Inject(BodyParser) private readonly parser: BodyParser) {}

  transform(body: unknown): Promise<unknown> {
    return this.parser.parse(unreadBody(body));
  }
}

/** The value of a small body: `@Body(SmallBodyPipe) body: unknown`. Throws 400, 413 and 415. */
export class SmallBodyPipe implements PipeTransform<unknown, Promise<unknown>> {
  transform(body: unknown): Promise<unknown> {
    return readSmall(unreadBody(body));
  }
}

/**
 * A small body that is an object with no other fields than the given ones: `@Body(new ObjectBodyPipe(['id']))`. Where
 * it is optional, no body means no fields. Throws 400, 413, 415 and Invalid.
 */
export class ObjectBodyPipe implements PipeTransform<unknown, Promise<JsonObject>> {
  constructor(
    private readonly fields: readonly string[],
    private readonly options: { readonly optional: boolean } = { optional: false },
  ) {}

  async transform(body: unknown): Promise<JsonObject> {
    const unread = unreadBody(body);
    const bytes = await unread?.read();
    if (this.options.optional && (bytes === undefined || bytes.length === 0)) return {};
    return this.onlyFields(decodeBody(unread?.contentType, bytes));
  }

  private onlyFields(value: unknown): JsonObject {
    if (!isJsonObject(value)) throw new Invalid([FieldPath.at().violation('the body must be an object')]);
    const unknown = Object.keys(value).filter((key) => !this.fields.includes(key));
    if (unknown.length === 0) return value;
    throw new Invalid(
      unknown.map((key) => FieldPath.at(key).violation(`is not a known field; known are ${this.fields.join(', ')}`)),
    );
  }
}

/**
 * Refuses a body that declares more bytes than any handler accepts, before the query is validated and whether or not
 * the handler reads bodies: a client that sends a gigabyte with a DELETE gets an error. Controllers that write use it.
 */
export class BodySizeGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    unreadBody(context.getArgByIndex<RestRequest>(0).body)?.checkDeclaredLength();
    return true;
  }
}

async function readSmall(body: UnreadBody | undefined): Promise<unknown> {
  return decodeBody(body?.contentType, await body?.read());
}

function unreadBody(body: unknown): UnreadBody | undefined {
  return body instanceof UnreadBody ? body : undefined;
}
