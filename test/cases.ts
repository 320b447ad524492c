/**
 * How many of the cases of a property, of a random test or of a storm are tried. All of them, unless `TEST_SHARE` says
 * which part: the runner sets it for `--fast`, where one in five is enough to notice what breaks at once. More than 1 looks
 * for what is rare: `TEST_SHARE=20 npm run test:file core/interval`.
 */
const SHARE = Number(process.env.TEST_SHARE ?? 1);
if (!(SHARE > 0)) throw new Error(`TEST_SHARE must be more than 0, and is ${process.env.TEST_SHARE}`);

/** @param full the full number of cases; at least one is tried */
export function cases(full: number): number {
  return Math.ceil(full * SHARE);
}
