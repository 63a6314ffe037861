import { createFileRegistry, fromBinary, toBinary, type DescFile, type FileRegistry } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { FILE_DESCRIPTOR_SET, type ServerReflectionResponse, type ServerReflectionRequest } from '@causeway/proto-gen';
import { readPeerAddress } from '@causeway/grpc-server';
import { errorText } from '@causeway/runtime';
import { status, type handleBidiStreamingCall } from '@grpc/grpc-js';
import { ConcurrentStreams } from '../calls/concurrent-streams';

/** Maximum number of reflection streams, in total and per address: they need no credentials. */
const MAX_STREAMS = 1_000;
const MAX_STREAMS_PER_CLIENT = 100;

/** Maximum length of a symbol or file name that is looked up, in characters. */
const MAX_NAME_LENGTH = 500;

type Answer = ServerReflectionResponse['messageResponse'];

/**
 * Server reflection: lets generic clients discover every service and message. v1 and v1alpha have the same messages. Implemented here
 * because the package for grpc-js loads .proto files with a second protobuf runtime, and the bundled programs have no such files.
 */
export class Reflection {
  private readFiles: FileRegistry | undefined;
  private readonly files = new Map<DescFile, Buffer>();
  private readonly streams = new ConcurrentStreams(MAX_STREAMS, 'streams of reflection are', MAX_STREAMS_PER_CLIENT);

  /** `services`: the full names of the server's services. */
  constructor(private readonly services: readonly string[]) {}

  /** Answers in order; while the client does not read, no further request is read. */
  readonly info: handleBidiStreamingCall<ServerReflectionRequest, ServerReflectionResponse> = (call) => {
    try {
      call.once('cancelled', this.streams.enter(readPeerAddress(call.getPeer())));
    } catch (error) {
      return void call.emit('error', { code: status.RESOURCE_EXHAUSTED, details: errorText(error) });
    }
    call.on('data', (request: ServerReflectionRequest) => {
      if (call.write(this.respond(request))) return;
      call.pause();
      call.once('drain', () => call.resume());
    });
    call.on('end', () => call.end());
  };

  /** Reads the files at the first question about one: reading them is a tenth of the start of a control plane, and few are asked. */
  private get registry(): FileRegistry {
    this.readFiles ??= createFileRegistry(
      fromBinary(FileDescriptorSetSchema, Buffer.from(FILE_DESCRIPTOR_SET, 'base64')),
    );
    return this.readFiles;
  }

  private respond(request: ServerReflectionRequest): ServerReflectionResponse {
    return {
      validHost: request.host,
      originalRequest: request,
      messageResponse: this.answerTo(request.messageRequest),
    };
  }

  private answerTo(asked: ServerReflectionRequest['messageRequest']): Answer {
    switch (asked?.$case) {
      case 'listServices':
        return { $case: 'listServicesResponse', value: { service: this.services.map((name) => ({ name })) } };
      case 'fileByFilename':
        return this.toAnswer(this.registry.getFile(asked.value.slice(0, MAX_NAME_LENGTH).replace(/\.proto$/, '')));
      case 'fileContainingSymbol':
        return this.toAnswer(this.findFile(asked.value.slice(0, MAX_NAME_LENGTH)));
      case 'fileContainingExtension':
        return notFound('there are no extensions');
      case 'allExtensionNumbersOfType':
        return this.findFile(asked.value.slice(0, MAX_NAME_LENGTH))
          ? {
              $case: 'allExtensionNumbersResponse',
              value: { baseTypeName: asked.value.slice(0, MAX_NAME_LENGTH), extensionNumber: [] },
            }
          : notFound('there is no such type');
      case undefined:
        return {
          $case: 'errorResponse',
          value: { errorCode: status.INVALID_ARGUMENT, errorMessage: 'nothing is asked' },
        };
    }
  }

  /** Returns the file that defines a service, message, enum, method, field or value. */
  private findFile(symbol: string): DescFile | undefined {
    const name = symbol.replace(/^\./, '');
    const found = this.registry.get(name) ?? this.registry.get(name.slice(0, name.lastIndexOf('.')));
    return found?.file;
  }

  /** Returns a file with all files that it imports, so that one request is enough. */
  private toAnswer(file: DescFile | undefined): Answer {
    if (!file) return notFound('there is no such file or symbol');
    const files = new Set<DescFile>();
    const add = (one: DescFile): void => {
      if (files.has(one)) return;
      files.add(one);
      one.dependencies.forEach(add);
    };
    add(file);
    return {
      $case: 'fileDescriptorResponse',
      value: { fileDescriptorProto: [...files].map((one) => this.encoded(one)) },
    };
  }

  /** Encoded once per file: callers need no credentials and may call often. */
  private encoded(file: DescFile): Buffer {
    const known = this.files.get(file);
    if (known) return known;
    const bytes = Buffer.from(toBinary(FileDescriptorProtoSchema, file.proto));
    this.files.set(file, bytes);
    return bytes;
  }
}

function notFound(errorMessage: string): Answer {
  return { $case: 'errorResponse', value: { errorCode: status.NOT_FOUND, errorMessage } };
}
