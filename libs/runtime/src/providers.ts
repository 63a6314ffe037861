/**
 * Providers by name: a token has the type of its value, and a factory gets values under the names of their tokens.
 * Independent of any framework; the results fit Nest's factory providers.
 */

/** Exists for the compiler only: holds the type of a token's value. */
declare const VALUE: unique symbol;

/** A symbol for a provided value of this type. */
export type InjectionToken<T> = symbol & { readonly [VALUE]: T };

/** Identifies a provided value: a symbol, or the class of the value. */
export type Token<T> = InjectionToken<T> | (abstract new (...args: never[]) => T);

/** Tokens by the names under which a factory gets their values. */
export type Tokens = Readonly<Record<string, Token<unknown>>>;

/** The values of such tokens, by the same names. */
export type Provided<S extends Tokens> = { readonly [N in keyof S]: S[N] extends Token<infer T> ? T : never };

/** A factory with the tokens of its arguments in order, as `forRootAsync` of a module expects it. */
export interface Injection<T> {
  readonly inject: Token<unknown>[];
  readonly useFactory: (...values: readonly unknown[]) => T | Promise<T>;
}

/** An injection with the token of its result. */
export interface FactoryProvider<T> extends Injection<T> {
  readonly provide: Token<T>;
}

/** Creates a token for values of type `T`; messages about a missing provider show the name. Every call returns a different token. */
export function injectionToken<T>(name: string): InjectionToken<T>;
export function injectionToken(name: string): symbol {
  return Symbol(name);
}

/** Returns a factory that gets the values of these tokens by name. */
export function injectFrom<S extends Tokens, T>(
  tokens: S,
  create: (values: Provided<S>) => T | Promise<T>,
): Injection<T> {
  const inject = Object.values<Token<unknown>>(tokens);
  return { inject, useFactory: (...values) => create(nameValues(tokens, values)) };
}

/** Returns the provider of a token: a factory that gets the values of other tokens by name and creates this one's. */
export function provideFrom<T, S extends Tokens>(
  provide: Token<T>,
  tokens: S,
  create: (values: Provided<S>) => NoInfer<T> | Promise<NoInfer<T>>,
): FactoryProvider<T> {
  return { provide, ...injectFrom<S, T>(tokens, create) };
}

function nameValues<S extends Tokens>(tokens: S, values: readonly unknown[]): Provided<S>;
function nameValues(tokens: Tokens, values: readonly unknown[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.keys(tokens).map((name, index) => [name, values[index]]));
}
