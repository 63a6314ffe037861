/** The reason of the end of a stream whose connection is gone: TCP does not tell whether the zone stopped, or what is between dropped it. */
export const LOST =
  'its connection ended without a word from the zone: it stopped, or something between dropped the link; which is not known';

/** Texts of grpc-js for ends that no peer has sent, and what they are. */
const LOCAL_ENDS: readonly (readonly [RegExp, string])[] = [
  [
    /Cancelled on client/,
    'the global did not answer within 10 s: what is sent to it, or its answer, is lost on the way',
  ],
  [
    /Connection dropped|[Kk]eepalive/,
    'the connection was lost without a word: nothing came from the global any more, and it is not known what dropped it',
  ],
  [
    /ECONNRESET|EPIPE|socket hang up|ETIMEDOUT|Call ended without gRPC status|Received RST_STREAM/,
    'the connection was cut; the global did not say that it ends, and it is not known what cut it',
  ],
  [
    /No connection established|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|Failed to connect/,
    'no connection to the global is possible',
  ],
  [/Name resolution failed|ENOTFOUND|EAI_AGAIN/, 'the name of the global has no address'],
];

/** Returns the failure of a call in plain words, with the text of gRPC behind it; a status that the global sent stays as it is. */
export function describeCallFailure(message: string): string {
  const [, words] = LOCAL_ENDS.find(([text]) => text.test(message)) ?? [];
  return words === undefined ? message : `${words} (${message})`;
}

/** The reason of the end of a stream whose connection stands. */
export const ZONE_ENDED = 'the zone ended the stream';
