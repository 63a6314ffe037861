import {
  create,
  createFileRegistry,
  fromBinary,
  fromJson,
  toBinary,
  toJson,
  type DescMethod,
  type FileRegistry,
  type JsonValue,
} from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema, type FileDescriptorProto } from '@bufbuild/protobuf/wkt';
import {
  ServerReflectionService,
  ServerReflectionV1AlphaService,
  type ServerReflectionResponse,
} from '@causeway/proto-gen';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';

/** A call whose answers go on. */
export interface Watching {
  /** The error that ended it; undefined if the server ended it without one. */
  readonly ended: Promise<ServiceError | undefined>;
  readonly cancel: () => void;
}

const asIs = (bytes: Buffer): Buffer => bytes;

/** A client that has no proto at hand: it asks reflection for the schema, and speaks JSON with its user. */
export class GenericClient {
  private constructor(
    private readonly client: Client,
    private readonly registry: FileRegistry,
    readonly services: readonly string[],
  ) {}

  static async connect(address: string, version: 'v1' | 'v1alpha'): Promise<GenericClient> {
    const client = new Client(address, credentials.createInsecure());
    const { serverReflectionInfo: method } =
      version === 'v1' ? ServerReflectionService : ServerReflectionV1AlphaService;
    const stream = client.makeBidiStreamRequest(method.path, method.requestSerialize, method.responseDeserialize);
    const answers: ServerReflectionResponse[] = [];
    const ended = new Promise<void>((resolve, reject) => {
      stream.on('error', reject).on('end', resolve);
      stream.on('data', (answer: ServerReflectionResponse) => {
        answers.push(answer);
        const { messageResponse } = answer;
        if (messageResponse?.$case !== 'listServicesResponse') return;
        // No service mentions the details of errors: a client asks for them when it meets one.
        for (const { name } of [...messageResponse.value.service, { name: 'google.rpc.ErrorInfo' }])
          stream.write({ host: '', messageRequest: { $case: 'fileContainingSymbol', value: name } });
        stream.end();
      });
    });
    stream.write({ host: '', messageRequest: { $case: 'listServices', value: '' } });
    await ended;
    const files = new Map<string, FileDescriptorProto>();
    const services: string[] = [];
    for (const { messageResponse } of answers) {
      if (messageResponse?.$case === 'listServicesResponse')
        services.push(...messageResponse.value.service.map(({ name }) => name));
      if (messageResponse?.$case !== 'fileDescriptorResponse') continue;
      for (const bytes of messageResponse.value.fileDescriptorProto) {
        const file = fromBinary(FileDescriptorProtoSchema, bytes);
        files.set(file.name, file);
      }
    }
    const set = create(FileDescriptorSetSchema, { file: importedFirst(files) });
    return new GenericClient(client, createFileRegistry(set), services);
  }

  /** Calls `package.Service/Method` with messages in JSON; resolves with all answers, also in JSON. */
  call(path: string, requests: readonly JsonValue[], token?: string): Promise<readonly JsonValue[]> {
    const method = this.methodOf(path);
    const metadata = new Metadata();
    if (token !== undefined) metadata.set('authorization', `Bearer ${token}`);
    const stream = this.client.makeBidiStreamRequest(`/${path}`, asIs, asIs, metadata);
    return new Promise((resolve, reject) => {
      const answers: JsonValue[] = [];
      stream.on('data', (bytes: Buffer) =>
        answers.push(toJson(method.output, fromBinary(method.output, bytes), { registry: this.registry })),
      );
      stream.on('error', reject).on('end', () => resolve(answers));
      for (const request of requests)
        stream.write(Buffer.from(toBinary(method.input, fromJson(method.input, request, { registry: this.registry }))));
      stream.end();
    });
  }

  /** Calls `package.Service/Method` with one message in JSON, and calls `told` with each answer; resolves with the error that ends the call. */
  watch(path: string, request: JsonValue, told: (answer: JsonValue) => void): Watching {
    const method = this.methodOf(path);
    const message = Buffer.from(toBinary(method.input, fromJson(method.input, request, { registry: this.registry })));
    const stream = this.client.makeServerStreamRequest(`/${path}`, asIs, asIs, message);
    stream.on('data', (bytes: Buffer) => told(toJson(method.output, fromBinary(method.output, bytes))));
    const ended = new Promise<ServiceError | undefined>((resolve) =>
      stream.on('error', resolve).on('end', () => resolve(undefined)),
    );
    return { ended, cancel: () => stream.cancel() };
  }

  /** The details of the error that ended a call, in JSON. */
  detailsOf({ metadata }: ServiceError): readonly JsonValue[] {
    const status = this.registry.getMessage('google.rpc.Status');
    const [bytes] = metadata.get('grpc-status-details-bin');
    if (!status || !Buffer.isBuffer(bytes))
      throw new Error('reflection shows no google.rpc.Status, or there are no details');
    const json = toJson(status, fromBinary(status, bytes), { registry: this.registry });
    const details: JsonValue = Object(json).details;
    return Array.isArray(details) ? details : [];
  }

  close(): void {
    this.client.close();
  }

  private methodOf(path: string): DescMethod {
    const [service = '', name] = path.split('/');
    const method = this.registry.getService(service)?.methods.find((one) => one.name === name);
    if (!method) throw new Error(`reflection shows no ${path}`);
    return method;
  }
}

/** Each file behind those that it imports. */
function importedFirst(files: ReadonlyMap<string, FileDescriptorProto>): FileDescriptorProto[] {
  const sorted = new Set<FileDescriptorProto>();
  const add = (file: FileDescriptorProto): void => {
    for (const name of file.dependency) {
      const imported = files.get(name);
      if (imported && !sorted.has(imported)) add(imported);
    }
    sorted.add(file);
  };
  for (const file of files.values()) add(file);
  return [...sorted];
}
