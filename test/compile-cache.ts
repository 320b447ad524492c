/**
 * What the test runner lets all processes of Node share, so that not each of them compiles the program anew. It goes into the
 * environment of those that get one of their own.
 */
export function compileCache(): Record<string, string> {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {};
}
