/** Closes what tests open, with `using` or `await using`, at the end of the block, however that ends. */

/** For what closes synchronously: `using db = closing(new Database(path))`. */
export function closing<T extends { close(): unknown }>(thing: T): T & Disposable {
  return Object.assign(thing, { [Symbol.dispose]: () => void thing.close() });
}

/** For what takes a while to end: `await using child = ending(spawn('sleep', ['9']), kill)`. */
export function ending<T extends object>(thing: T, end: (thing: T) => unknown): T & AsyncDisposable {
  return Object.assign(thing, { [Symbol.asyncDispose]: async () => void (await end(thing)) });
}
