/** One hostile form of input that can be made in any size. */
export interface Shape {
  readonly name: string;
  /** Makes an input of about `size` bytes and returns what takes it in. Only the returned function is measured. */
  readonly prepare: (size: number) => () => unknown;
}

/** A place where bytes of others come in. */
export interface EntryPoint {
  readonly name: string;
  /** The largest input that can arrive here, bytes. */
  readonly largest: number;
  readonly shapes: readonly Shape[];
}

/** A text of about `size` characters. */
export interface TextShape {
  readonly name: string;
  readonly make: (size: number) => string;
}

/** An entry point that takes a text; a refusal that it throws is an answer like any other. */
export function takesText(
  name: string,
  largest: number,
  shapes: readonly TextShape[],
  take: (text: string) => unknown,
): EntryPoint {
  return takesInput({ name, largest }, shapes, (text) => text, take);
}

/** An entry point whose input is made of a text: bytes, headers, a message. */
export function takesInput<T>(
  place: Pick<EntryPoint, 'name' | 'largest'>,
  shapes: readonly TextShape[],
  inputOf: (text: string) => T,
  take: (input: T) => unknown,
): EntryPoint {
  return {
    ...place,
    shapes: shapes.map(({ name, make }) => ({
      name,
      prepare: (size) => {
        const input = inputOf(make(size));
        return () => take(input);
      },
    })),
  };
}
